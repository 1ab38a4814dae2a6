// What the handlers of this folder share: the media type, faults as failures, permissions of a request.
#pragma once
#include <expected>
#include <optional>
#include <string>
#include <string_view>

#include "services/datastore/backend.hpp"
#include "services/datastore/guard/guard.hpp"
#include "services/datastore/lfs/grant.hpp"
#include "services/kit/web/call.hpp"

namespace stackgate::datastore::lfs {

inline constexpr std::string_view media_type = "application/vnd.git-lfs+json";

http::Response answer(int status, std::string body);
/// 401 also tells git-lfs where to take credentials from.
web::Answer challenged(web::Answer answer);

/// 406 when the client takes no LFS answer.
std::expected<void, web::Failure> check_accept(const web::Call& call);
/// The body's object, which lives as long as the call: 406, 415, 422.
std::expected<const json::Value*, web::Failure> read_body(web::Call& call);

struct Permitted {
  Repository repository;
  std::int64_t user = 0;
  std::optional<Grant> grant{};  // by token or signed URL; nothing: the account's own credentials
};
/// May this request move this file? By a signed URL, a token of the batch, or the account's own credentials.
std::expected<Permitted, web::Failure> permit(const Backend& backend, web::Call& call, Operation operation,
                                              std::string_view oid);

/// "/owner/name.git/info/lfs", escaped.
std::string lfs_path(const Repository& repository);

}  // namespace stackgate::datastore::lfs
