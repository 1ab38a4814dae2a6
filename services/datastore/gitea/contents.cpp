#include "services/datastore/git/names.hpp"
#include "services/datastore/gitea/handlers.hpp"
#include "services/datastore/gitea/shapes.hpp"
#include "services/datastore/lfs/serve.hpp"
#include "services/kit/base/base64.hpp"
#include "services/kit/base/try.hpp"

namespace stackgate::datastore::gitea {
namespace {

constexpr std::uint64_t largest_inline = 10 * 1024 * 1024;  // as /settings/api says

std::string_view ref_of(web::Call& call) { return call.query().get("ref").value_or(""); }

web::Answer missing_path(std::string_view path) {
  return web::Failure{.status = 404, .message = "there is no " + std::string(path) + " in this revision"};
}

web::Answer folder(web::Call& call, const Opened& opened, std::string_view path) {
  auto entries = TRY(opened.git->tree(opened.commit, path, {.lfs = true, .limit = 10'000}));
  return json_response(200, [&](json::Writer& w) {
    const Shape shape{w, call.base_url(), opened.allowed.identity};
    w.array([&] {
      for (const git::Entry& entry : entries)
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
  auto entry = TRY(opened.git->entry(opened.commit, path));
  if (entry.kind == git::EntryKind::folder) return folder(call, opened, path);
  std::string content;
  const bool holds = entry.kind != git::EntryKind::submodule && entry.size <= largest_inline;
  if (holds) {
    content = base64::encode(TRY(opened.git->blob(entry.oid, largest_inline)));
  }
  return json_response(200, [&](json::Writer& w) {
    Shape{w, call.base_url(), opened.allowed.identity}.entry(opened.allowed.repository, entry, opened.revision,
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
web::Content content_of(const git::Entry& entry, std::string_view etag) {
  return {.validators = {.etag = web::make_etag(etag)},
          .headers = {{"Content-Disposition", web::content_disposition("attachment", git::file_name(entry.path))},
                      {"X-Content-Type-Options", "nosniff"},
                      {"Cache-Control", "private, no-cache"}}};
}

std::expected<git::Entry, web::Answer> file_at(Opened& opened, std::string_view path) {
  if (opened.commit.empty() || path.empty()) return std::unexpected(missing_path(path));
  auto entry = opened.git->entry(opened.commit, path);
  if (!entry) return std::unexpected(to_failure(entry.error()));
  if (entry->kind == git::EntryKind::folder || entry->kind == git::EntryKind::submodule)
    return std::unexpected(web::Failure{.status = 404, .message = std::string(path) + " is not a file"});
  return std::move(*entry);
}

web::Answer send_blob(web::Call& call, Opened& opened, const git::Entry& entry) {
  return lfs::send_blob(call, *opened.git, entry, content_of(entry, entry.oid));
}

web::Answer raw(Backend& backend, web::Call& call) {
  auto opened = TRY(open_at(backend, call, ref_of(call)));
  return send_blob(call, opened, TRY(file_at(opened, call.parameter("path"))));
}

/// The file that an LFS pointer stands for.
web::Answer media(Backend& backend, web::Call& call) {
  auto opened = TRY(open_at(backend, call, ref_of(call)));
  const auto entry = TRY(file_at(opened, call.parameter("path")));
  if (!entry.lfs) return send_blob(call, opened, entry);
  const auto file = TRY(backend.large_files.stat(opened.allowed.repository.id, entry.lfs->oid));
  if (!file)
    return web::Failure{.status = 404, .message = "the large file of this pointer was not uploaded to this repository"};
  web::Content content = content_of(entry, entry.lfs->oid);
  if (backend.serve_direct) {
    const objects::PresignOptions options{.content_disposition = content.headers.front().second};
    if (auto url = backend.large_files.presign(*file, options))
      return http::Response{.status = 302, .headers = {{"Location", *url}, {"Cache-Control", "no-store"}}};
  }
  return lfs::serve(backend, call, *file, std::move(content));
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
