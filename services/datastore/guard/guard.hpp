// From a request to "this account may do this with that repository", the same for every API: what it may not becomes a
// Failure with the right status, message and headers; the route's dialect gives it its shape.
#pragma once
#include <expected>
#include <string_view>

#include "services/datastore/accounts/accounts.hpp"
#include "services/datastore/accounts/identity.hpp"
#include "services/datastore/backend.hpp"
#include "services/datastore/repositories/access.hpp"
#include "services/datastore/repositories/repositories.hpp"
#include "services/kit/web/call.hpp"

namespace stackgate::datastore {

/// Who sent it, by its Authorization header; anonymous without one. Wrong credentials are a failure even where none are
/// needed. Notes who it is in the access log.
std::expected<Identity, web::Failure> identify(const Backend& backend, web::Call& call);
/// The same, and 401 for nobody.
std::expected<Identity, web::Failure> identify_someone(const Backend& backend, web::Call& call);

struct Authorization {
  Identity identity;
  Repository repository;
};
/// identify(), find and judge(). 401 carries WWW-Authenticate, 404 the code "RepoNotFound".
std::expected<Authorization, web::Failure> authorize(const Backend& backend, web::Call& call, std::string_view owner,
                                                     std::string_view name, Action action);
/// The same for an identity that came another way (a session, a token in the URL).
std::expected<Repository, web::Failure> authorize(const Backend& backend, const Identity& identity,
                                                  std::string_view owner, std::string_view name, Action action);

/// 401 with `WWW-Authenticate: Basic realm="stackgate"`.
web::Failure unauthorized(std::string_view message = "authentication is required");

using web::to_failure;

}  // namespace stackgate::datastore
