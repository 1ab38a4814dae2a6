
#include <memory>
#include <span>

#include "services/datastore/gitea/handlers.hpp"
#include "services/datastore/gitea/shapes.hpp"
#include "services/datastore/lfs/http.hpp"
#include "services/datastore/lfs/large_files.hpp"
#include "services/kit/base/base64.hpp"
#include "services/kit/base/try.hpp"
#include "services/kit/web/conditional.hpp"
#include "services/kit/web/send.hpp"

namespace stackgate::datastore::gitea {
namespace {

constexpr std::uint64_t largest_inline = 10 * 1024 * 1024;  // as /settings/api says
constexpr std::uint64_t largest_held = 4 * 1024 * 1024;     // of raw content in memory

std::string_view ref_of(web::Call& call) { return call.query().get("ref").value_or(""); }

web::Answer missing_path(std::string_view path) {
  return web::Failure{.status = 404, .message = "there is no " + std::string(path) + " in this revision"};
}

web::Answer folder(web::Call& call, const Opened& opened, std::string_view path) {
  auto entries = opened.git->tree(opened.commit, path, {.lfs = true, .limit = 10'000});
  if (!entries) return to_failure(entries.error());
  return json_response(200, [&](json::Writer& w) {
    const Shape shape{w, call.base_url(), opened.allowed.identity};
    w.array([&] {
      for (const git::Entry& entry : *entries)
        shape.entry(opened.allowed.repository, entry, opened.revision, opened.commit, nullptr);
    });
  });
}

web::Answer contents(Backend& backend, web::Call& call) {
  auto opened = TRY(open_at(backend, call, ref_of(call)));
  const std::string_view path = call.parameter("path");
  if (opened.commit.empty()) {
    if (path.empty()) return json_response(200, "[]");
    return missing_path(path);
  }
  if (path.empty()) return folder(call, opened, path);
  auto entry = opened.git->entry(opened.commit, path);
  if (!entry) return to_failure(entry.error());
  if (entry->kind == git::EntryKind::folder) return folder(call, opened, path);
  std::string content;
  const bool holds = entry->kind != git::EntryKind::submodule && entry->size <= largest_inline;
  if (holds) {
    auto blob = opened.git->blob(entry->oid, largest_inline);
    if (!blob) return to_failure(blob.error());
    content = base64::encode(*blob);
  }
  return json_response(200, [&](json::Writer& w) {
    Shape{w, call.base_url(), opened.allowed.identity}.entry(opened.allowed.repository, *entry, opened.revision,
                                                             opened.commit, holds ? &content : nullptr);
  });
}

/// By its id, as git_url says. Any object of the repository: who may read it may fetch them all.
web::Answer git_blob(Backend& backend, web::Call& call) {
  auto opened = TRY(open_at(backend, call, ""));
  const std::string oid(call.parameter("sha"));
  auto bytes = opened.git->blob(oid, largest_inline);
  if (!bytes && bytes.error().fault == git::Fault::too_large)
    return web::Failure{.status = 413, .message = bytes.error().message + ": fetch it from raw/{path}"};
  if (!bytes) return to_failure(bytes.error());
  return json_response(200, [&](json::Writer& w) {
    Shape{w, call.base_url(), opened.allowed.identity}.blob(opened.allowed.repository, oid, *bytes);
  });
}

/// Never a type that a browser would run on this origin.
web::Content content_of(const git::Entry& entry, std::uint64_t size, std::string_view etag) {
  const std::string_view path = entry.path;
  return {.size = size,
          .validators = {.etag = web::make_etag(etag)},
          .headers = {{"Content-Disposition", web::content_disposition("attachment", path.substr(path.rfind('/') + 1))},
                      {"X-Content-Type-Options", "nosniff"},
                      {"Cache-Control", "private, no-cache"}}};
}

web::Answer send_blob(web::Call& call, Opened& opened, const git::Entry& entry) {
  web::Content content = content_of(entry, entry.size, entry.oid);
  if (entry.size <= largest_held) {
    auto blob = opened.git->blob(entry.oid, largest_held);
    if (!blob) return to_failure(blob.error());
    content.bytes = *blob;
    return web::send_content(call, content);
  }
  // A large blob comes in pieces from its beginning: whole, without ranges.
  http::Response head{.status = 200, .content_type = content.type, .headers = std::move(content.headers)};
  head.headers.emplace_back("ETag", content.validators.etag);
  auto writer = call.start(std::move(head), entry.size);
  const auto done =
      opened.git->stream_blob(entry.oid, [&](std::string_view bytes) { return writer->write(bytes).has_value(); });
  if (done) (void)writer->finish();
  return web::Streamed{};
}

std::expected<git::Entry, web::Answer> file_at(Opened& opened, std::string_view path) {
  if (opened.commit.empty() || path.empty()) return std::unexpected(missing_path(path));
  auto entry = opened.git->entry(opened.commit, path);
  if (!entry) return std::unexpected(to_failure(entry.error()));
  if (entry->kind == git::EntryKind::folder || entry->kind == git::EntryKind::submodule)
    return std::unexpected(web::Failure{.status = 404, .message = std::string(path) + " is not a file"});
  return std::move(*entry);
}

web::Answer raw(Backend& backend, web::Call& call) {
  auto opened = TRY(open_at(backend, call, ref_of(call)));
  auto entry = file_at(opened, call.parameter("path"));
  if (!entry) return std::move(entry.error());
  return send_blob(call, opened, *entry);
}

/// The file that an LFS pointer stands for.
web::Answer media(Backend& backend, web::Call& call) {
  auto opened = TRY(open_at(backend, call, ref_of(call)));
  auto entry = file_at(opened, call.parameter("path"));
  if (!entry) return std::move(entry.error());
  if (!entry->lfs) return send_blob(call, opened, *entry);
  auto file = backend.large_files.stat(opened.allowed.repository.id, entry->lfs->oid);
  if (!file) return to_failure(file.error());
  if (!*file)
    return web::Failure{.status = 404, .message = "the large file of this pointer was not uploaded to this repository"};
  const lfs::Stat stat = **file;
  web::Content content = content_of(*entry, stat.size, entry->lfs->oid);
  if (backend.serve_direct) {
    const objects::PresignOptions options{.content_disposition = content.headers.front().second};
    if (auto url = backend.large_files.presign(stat, options))
      return http::Response{.status = 302, .headers = {{"Location", *url}, {"Cache-Control", "no-store"}}};
  }
  content.open = [&](std::uint64_t offset) -> std::expected<web::ReadPart, web::Failure> {
    auto opened_file = backend.large_files.open(stat, offset);
    if (!opened_file) return std::unexpected(to_failure(opened_file.error()));
    return [download = std::shared_ptr<objects::Download>(std::move(*opened_file))](
               std::span<char> space) -> std::expected<std::size_t, Error> {
      auto count = download->read(space);
      if (!count) return std::unexpected(Error{count.error().message});
      return *count;
    };
  };
  return web::send_content(call, content);
}

}  // namespace

void add_content_routes(Routes& routes, Backend& backend) {
  add(routes, backend, "GET", "/api/v1/repos/{owner}/{repo}/contents", contents);
  add(routes, backend, "GET", "/api/v1/repos/{owner}/{repo}/contents/{path...}", contents);
  add(routes, backend, "GET", "/api/v1/repos/{owner}/{repo}/git/blobs/{sha}", git_blob);
  add(routes, backend, "GET", "/api/v1/repos/{owner}/{repo}/raw/{path...}", raw);
  add(routes, backend, "GET", "/api/v1/repos/{owner}/{repo}/media/{path...}", media);
  for (std::size_t i = routes.size() - 2; i < routes.size(); ++i) routes[i].options.transfer = true;
}

}  // namespace stackgate::datastore::gitea
