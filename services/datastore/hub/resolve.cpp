// Files as clients download them.
#include "services/datastore/git/names.hpp"
#include "services/datastore/hub/handlers.hpp"
#include "services/datastore/hub/place.hpp"
#include "services/datastore/lfs/serve.hpp"
#include "services/kit/base/try.hpp"
#include "services/kit/web/ranges.hpp"
#include "services/kit/web/send.hpp"

namespace stackgate::datastore::hub {

namespace {

constexpr std::uint64_t held_in_memory = 8ULL << 20U;

/// On every answer about a file, redirects and 404 as well.
web::Headers file_headers(const Place& place, const RepositoryAtRevision& opened) {
  web::Headers out{{"X-Repo-Commit", opened.commit},
                   {"Content-Disposition", web::content_disposition("attachment", git::file_name(opened.path))},
                   // Files of users never act as pages of this server.
                   {"X-Content-Type-Options", "nosniff"},
                   {"Content-Security-Policy", "default-src 'none'; sandbox"},
                   {"Access-Control-Expose-Headers",
                    "X-Repo-Commit, X-Linked-Size, X-Linked-Etag, ETag, Content-Range, Accept-Ranges"}};
  const bool open = !place.repository.is_private;
  out.emplace_back("Cache-Control", git::is_oid(opened.revision) ? (open ? "public, max-age=31536000, immutable"
                                                                         : "private, max-age=31536000, immutable")
                                                                 : "no-cache");
  return out;
}

/// A blob too large to hold: passed through as Git unpacks it, cut to one range.
web::Answer send_large_blob(web::Call& call, git::Repository& git, const git::Entry& entry, web::Content content) {
  content.size = entry.size;
  const std::string_view asked = call.request().header("range");
  const web::RangeRequest range = web::read_range(asked, entry.size);
  const bool conditions = !call.request().header("if-none-match").empty() || !call.request().header("if-match").empty();
  if (call.request().method == "HEAD" || range.kind == web::RangeRequest::Kind::unsatisfiable || conditions) {
    content.open = [](std::uint64_t) -> std::expected<web::ReadPart, web::Failure> {
      return std::unexpected(web::Failure{.status = 412, .message = "this file is too large for conditions"});
    };
    return web::send_content(call, content);
  }
  web::ByteRange part{0, entry.size};
  http::Response head{.status = 200, .content_type = content.type, .headers = content.headers};
  if (range.kind == web::RangeRequest::Kind::parts && range.ranges.size() == 1) {
    part = range.ranges[0];
    head.status = 206;
    head.headers.emplace_back("Content-Range", web::content_range(part, entry.size));
  }
  head.headers.emplace_back("ETag", content.validators.etag);
  head.headers.emplace_back("Accept-Ranges", "bytes");
  auto writer = call.start(std::move(head), part.count);
  std::uint64_t at = 0;
  bool whole = true;
  auto done = git.stream_blob(entry.oid, [&](std::string_view bytes) {
    const std::uint64_t begin = at, end = at + bytes.size();
    at = end;
    if (end <= part.first) return true;
    const std::uint64_t from = begin < part.first ? part.first - begin : 0;
    const std::uint64_t left = part.first + part.count - (begin + from);
    bytes = bytes.substr(from, left);
    if (!writer->write(bytes)) return whole = false;
    return at < part.first + part.count;
  });
  if (whole && (done || at >= part.first + part.count)) (void)writer->finish();
  return web::Streamed{};
}

web::Answer send_blob(web::Call& call, git::Repository& git, const git::Entry& entry, web::Headers headers) {
  web::Content content{
      .size = entry.size, .validators = {.etag = web::make_etag(entry.oid)}, .headers = std::move(headers)};
  if (entry.size > held_in_memory) return send_large_blob(call, git, entry, std::move(content));
  std::string bytes;
  if (call.request().method == "HEAD") {
    content.open = [](std::uint64_t) -> std::expected<web::ReadPart, web::Failure> {
      return std::unexpected(web::Failure{.message = "HEAD has no content"});
    };
  } else {
    bytes = TRY(git.blob(entry.oid, held_in_memory));
    content.bytes = bytes;
  }
  return web::send_content(call, content);
}

web::Answer send_linked(const Backend& backend, web::Call& call, const Place& place, const git::Entry& entry,
                        web::Headers headers) {
  const auto file = TRY(backend.large_files.stat(place.repository.id, entry.lfs->oid));
  if (!file || file->size != entry.lfs->size)
    return web::Failure{.status = 404,
                        .message = "the large file behind " + entry.path + " has not been uploaded",
                        .code = std::string(entry_not_found),
                        .headers = std::move(headers)};
  headers.emplace_back("X-Linked-Size", std::to_string(file->size));
  headers.emplace_back("X-Linked-Etag", web::make_etag(entry.lfs->oid));
  if (auto url = lfs::direct_url(backend, *file, git::file_name(entry.path), "application/octet-stream")) {
    for (auto& [key, value] : headers)
      if (key == "Cache-Control") value = "no-store";  // the address runs out
    headers.emplace_back("ETag", web::make_etag(entry.lfs->oid));
    headers.emplace_back("Accept-Ranges", "bytes");
    headers.emplace_back("Location", std::move(*url));
    return http::Response{.status = 302, .content_type = "text/plain", .headers = std::move(headers)};
  }
  web::Content head{.validators = {.etag = web::make_etag(entry.lfs->oid)}, .headers = std::move(headers)};
  return lfs::serve(backend, call, *file, std::move(head));
}

web::Answer send_file(const Backend& backend, web::Call& call, RepositoryType type, bool follow) {
  const auto place = TRY(enter(backend, call, type, Action::read));
  const auto opened = TRY(open_at(backend, place, call.parameter("revision"), call.parameter("path")));
  if (opened.commit.empty()) return entry_failure({git::Fault::missing, "nothing has been committed yet"});
  const std::string& path = opened.path;
  web::Headers headers = file_headers(place, opened);
  const auto missing = [&](const git::GitError& error) {
    web::Failure out = entry_failure(error);
    out.headers.emplace_back("X-Repo-Commit", opened.commit);
    return out;
  };
  const auto entry = opened.git->entry(opened.commit, path);
  if (!entry) return missing(entry.error());
  if (entry->kind == git::EntryKind::folder || entry->kind == git::EntryKind::submodule)
    return missing({git::Fault::missing, "\"" + path + "\" is a folder"});
  if (follow && entry->lfs) return send_linked(backend, call, place, *entry, std::move(headers));
  return send_blob(call, *opened.git, *entry, std::move(headers));
}

}  // namespace

web::Answer get_resolve(const Backend& backend, web::Call& call, RepositoryType type) {
  return send_file(backend, call, type, true);
}

web::Answer get_raw(const Backend& backend, web::Call& call, RepositoryType type) {
  return send_file(backend, call, type, false);
}

}  // namespace stackgate::datastore::hub
