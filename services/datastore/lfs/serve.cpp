#include "services/datastore/lfs/serve.hpp"

#include "services/datastore/lfs/grant.hpp"
#include "services/datastore/lfs/http.hpp"
#include "services/datastore/lfs/parts.hpp"
#include "services/kit/base/try.hpp"

namespace stackgate::datastore::lfs {

web::Answer serve(const Backend& backend, web::Call& call, const Stat& file, web::Content head) {
  head.size = file.size;
  std::unique_ptr<objects::Download> whole;  // keeps the descriptor open while it is sent
  if (call.request().method != "HEAD" && !can_presign(backend.store)) {
    auto opened = TRY(backend.large_files.open(file));
    whole = std::move(opened);
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

std::optional<std::string> direct_url(const Backend& backend, const Stat& file, std::string_view file_name,
                                      std::string_view type) {
  if (!backend.serve_direct) return {};
  return backend.large_files.presign(
      file, {.valid = grant_life,
             .content_disposition = file_name.empty() ? "" : web::content_disposition("attachment", file_name),
             .content_type = std::string(type)});
}

}  // namespace stackgate::datastore::lfs
