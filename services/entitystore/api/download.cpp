// GET /v1/adapters/{id}/archive: the tar.gz, for those who have a signed URL; see Downloads in api.hpp.
#include <algorithm>
#include <chrono>
#include <memory>

#include <fmt/format.h>

#include "services/entitystore/api/handlers.hpp"
#include "services/entitystore/registration/inspect.hpp"
#include "services/kit/base/try.hpp"
#include "services/kit/crypto/signed_query.hpp"
#include "services/kit/web/send.hpp"

namespace stackgate::entitystore {
namespace download_detail {

constexpr std::size_t most_reason = std::size_t{64} << 10U;

web::Failure away(const std::string& why) {
  return {.status = 503, .message = datastore_client::unanswered(why).message, .headers = {{"Retry-After", "5"}}};
}

/// The archive from `offset` on, with its first bytes there: what is wrong with it can still be said to the client
/// then.
std::expected<web::ReadPart, web::Failure> open_archive(const Datastore& datastore, const std::string& url,
                                                        std::uint64_t offset) {
  const auto begun = std::chrono::steady_clock::now();
  const auto patience = datastore.options().patience;
  http_client::Request call{.url = url, .head = patience, .pieces = http_client::Pieces::large};
  if (offset > 0) call.headers.emplace_back("Range", fmt::format("bytes={}-", offset));
  if (!datastore.authorization().empty()) call.headers.emplace_back("Authorization", datastore.authorization());
  auto answer = datastore.transfers().open(call);
  if (answer && answer->head().status >= 300 && answer->head().status < 400) {
    // To the object store, whose URL carries its own signature: nothing of ours may go with it.
    call.url = std::string(answer->head().header("Location").value_or(""));
    std::erase_if(call.headers, [](const auto& header) { return header.first == "Authorization"; });
    const auto gone = std::chrono::duration_cast<std::chrono::milliseconds>(std::chrono::steady_clock::now() - begun);
    call.head = std::max(patience - gone, std::chrono::milliseconds(1));
    answer = datastore.transfers().open(call);
  }
  if (!answer) return std::unexpected(away(answer.error().message));
  auto held = std::make_shared<http_client::Answer>(std::move(*answer));
  if (held->head().status != (offset > 0 ? 206 : 200)) {
    http_client::Response reply{held->head(), {}};
    while (reply.body.size() < most_reason) {
      char part[4096];
      const auto n = held->read(part);
      if (!n || *n == 0) break;
      reply.body.append(part, *n);
    }
    return std::unexpected(
        web::Failure{.status = 502, .message = datastore_client::refused("give the archive", reply).message});
  }
  return [held](std::span<char> space) { return held->read(space); };
}

}  // namespace download_detail

web::Answer get_archive(const Api& api, web::Call& call) {
  const auto found = TRY(find_adapter(api, call));
  const Record& record = found->record;
  if (download_url(api, call, record).empty())
    return web::Failure{.status = 409,
                        .message = fmt::format("the adapter is {} and has no archive", to_string(record.status))};
  if (api.downloads == Downloads::direct) {
    note_access(api, call, record.id, "redirect");  // the bytes go past this service
    return http::Response{.status = 302,
                          .content_type = "text/plain",
                          .headers = {{"Location", download_url(api, call, record)}, {"Cache-Control", "no-store"}}};
  }
  const auto allowed = crypto::verify_query(api.signing_key(), "GET", call.request().path, call.request().query,
                                            std::chrono::system_clock::now());
  if (!allowed)
    return web::Failure{
        .status = 403, .message = fmt::format("{}; GET /v1/adapters/{} gives a fresh one", allowed.error(), record.id)};
  const std::string url = wire::resolve_url(api.datastore.base(), record.repository, record.commit, archive_name);
  note_access(api, call, record.id, "download", record.archive_bytes);
  return web::send_content(
      call,
      {.size = record.archive_bytes,
       .type = "application/gzip",
       .validators = {.etag = fmt::format("\"{}\"", record.archive_sha256)},
       .headers = {{"Content-Disposition",
                    web::content_disposition("attachment", fmt::format("{}-{}.tar.gz", record.name, record.version))}},
       .open = [&api, url](std::uint64_t offset) -> std::expected<web::ReadPart, web::Failure> {
         return download_detail::open_archive(api.datastore, url, offset);
       }});
}

}  // namespace stackgate::entitystore
