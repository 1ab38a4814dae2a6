#include "services/datastore/lfs/serve.hpp"

#include "services/datastore/guard/guard.hpp"
#include "services/datastore/lfs/grant.hpp"
#include "services/datastore/lfs/parts.hpp"
#include "services/kit/base/try.hpp"

namespace stackgate::datastore::lfs {

web::Answer serve(const Backend& backend, web::Call& call, const Stat& file, web::Content head) {
  head.size = file.size;
  std::unique_ptr<objects::Download> whole;  // keeps the descriptor open while it is sent
  if (call.request().method != "HEAD" && !can_presign(backend.store)) {
    whole = TRY(backend.large_files.open(file));
    head.fd = whole->descriptor();
  }
  if (head.fd < 0) {
    head.open = [&](std::uint64_t offset) -> std::expected<web::ReadPart, web::Failure> {
      auto opened = backend.large_files.open(file, offset);
      if (!opened) return std::unexpected(to_failure(opened.error()));
      return [download = std::shared_ptr<objects::Download>(std::move(*opened))](
                 std::span<char> space) -> std::expected<std::size_t, Error> {
        auto got = download->read(space);
        if (!got) return std::unexpected(Error{got.error().message});
        return *got;
      };
    };
  }
  return web::send_content(call, head);
}

web::Answer send_blob(web::Call& call, git::Repository& git, const git::Entry& entry, web::Content head) {
  constexpr std::uint64_t held_in_memory = 4ULL << 20U;
  head.size = entry.size;
  if (entry.size <= held_in_memory) {
    const auto blob = TRY(git.blob(entry.oid, held_in_memory));
    head.bytes = blob;
    return web::send_content(call, head);
  }
  http::Response response{.status = 200, .content_type = head.type, .headers = std::move(head.headers)};
  response.headers.emplace_back("ETag", head.validators.etag);
  const auto writer = call.start(std::move(response), entry.size);
  const auto done =
      git.stream_blob(entry.oid, [&](std::string_view bytes) { return writer->write(bytes).has_value(); });
  if (done) (void)writer->finish();
  return web::Streamed{};
}

std::optional<std::string> direct_url(const Backend& backend, const Stat& file, std::string_view file_name,
                                      std::string_view type) {
  if (!backend.serve_direct) return {};
  return backend.large_files.presign(
      file, {.valid = grant_life,
             .content_disposition = file_name.empty() ? "" : web::content_disposition("attachment", file_name),
             .content_type = std::string(type)});
}

}  // namespace stackgate::datastore::lfs
