#include "services/entitystore/api/api.hpp"

#include <fmt/format.h>

#include "services/entitystore/adapters/names.hpp"
#include "services/entitystore/registration/inspect.hpp"
#include "services/kit/base/try.hpp"
#include "services/kit/crypto/signed_query.hpp"
#include "services/kit/web/answer.hpp"
#include "services/kit/web/conditional.hpp"

namespace stackgate::entitystore {

void note_access(const Api& api, web::Call& call, std::string_view adapter, std::string_view action,
                 std::uint64_t bytes) {
  const http::Request& request = call.request();
  const auto cut = [](std::string_view text) { return std::string(text.substr(0, 255)); };
  // This API signs nobody in: who asks is what a proxy in front of it says, and only where one is declared.
  api.access.note({.adapter = std::string(adapter),
                   .at = timestamp(),
                   .actor = api.trust_forwarded ? cut(request.header("x-remote-user")) : std::string(),
                   .action = std::string(action),
                   .bytes = bytes,
                   .client = cut(fmt::format("{} {}", request.peer, request.header("user-agent"))),
                   .trace = call.trace().trace_id});
}

std::string download_url(const Api& api, web::Call& call, const Record& record) {
  if ((record.status != Status::ready && record.status != Status::pending) || record.commit.empty()) return {};
  if (api.downloads == Downloads::direct)
    return wire::resolve_url(wire::base_of(api.datastore_public_url), record.repository, record.commit, archive_name);
  const std::string key = api.signing_key();
  if (key.empty()) return {};
  const std::string path = fmt::format("/v1/adapters/{}/archive", record.id);
  return fmt::format(
      "{}{}?{}", call.base_url(), path,
      crypto::sign_query(key, {.method = "GET", .path = path}, std::chrono::system_clock::now() + api.link_valid));
}

std::int64_t link_period(const Api& api) {
  if (api.downloads != Downloads::proxy) return 0;
  return std::chrono::system_clock::now().time_since_epoch() / (api.link_valid / 2);
}

std::expected<SnapshotPtr, web::Failure> catalogue_of(const Api& api) {
  if (api.catalogue.loaded()) return api.catalogue.snapshot();
  return std::unexpected(
      web::to_failure({ServiceFault::unavailable, "the adapters have not been read yet: the database is away",
                       std::chrono::seconds(2)}));
}

std::expected<ListedPtr, web::Failure> find_adapter(const Api& api, web::Call& call) {
  const auto snapshot = TRY(catalogue_of(api));
  const std::string_view id = call.parameter("id");
  if (auto found = snapshot->find(id)) return found;
  return std::unexpected(web::Failure{.status = 404, .message = fmt::format("there is no adapter \"{}\"", id)});
}

bool is_unchanged(web::Call& call, std::string_view etag) {
  const std::string_view known = call.request().header("if-none-match");
  return !known.empty() && web::etag_listed(known, etag, true);
}

http::Response not_modified(std::string_view etag) {
  return {.status = 304, .content_type = {}, .headers = {{"ETag", std::string(etag)}, {"Cache-Control", "no-cache"}}};
}

}  // namespace stackgate::entitystore
