#include "services/datastore/guard/guard.hpp"

#include <string>
#include <utility>

#include "services/kit/base/try.hpp"
#include "services/kit/web/basic_auth.hpp"

namespace stackgate::datastore {
namespace {

web::Failure not_found() {
  return {.status = 404, .message = "there is no such repository, or it is not yours to see", .code = "RepoNotFound"};
}

web::Failure forbidden(const Identity& identity, const Repository& repository, Action action) {
  if (identity.scope == Scope::read && action != Action::read)
    return {.status = 403, .message = "this token is read-only; make one with the scope \"write\""};
  if (repository.archived && action == Action::write)
    return {.status = 403, .message = "the repository is archived; only reading is possible"};
  return {.status = 403, .message = "you may read this repository but not change it"};
}

}  // namespace

web::Failure unauthorized(std::string_view message) {
  return {.status = 401,
          .message = std::string(message),
          .headers = {{"WWW-Authenticate", web::basic_challenge("stackgate")}}};
}

std::expected<Identity, web::Failure> identify(const Backend& backend, web::Call& call) {
  auto identity = backend.accounts.authenticate(call.request().header("Authorization"), call.request().peer);
  if (!identity) return std::unexpected(to_failure(identity.error()));
  if (!identity->anonymous()) call.set_actor(identity->name);
  return std::move(*identity);
}

std::expected<Identity, web::Failure> identify_someone(const Backend& backend, web::Call& call) {
  auto identity = identify(backend, call);
  if (identity && identity->anonymous()) return std::unexpected(unauthorized());
  return identity;
}

std::expected<Repository, web::Failure> authorize(const Backend& backend, const Identity& identity,
                                                  std::string_view owner, std::string_view name, Action action) {
  auto found = backend.repositories.find(owner, name);
  if (!found && found.error().fault != ServiceFault::missing) return std::unexpected(to_failure(found.error()));
  const Repository* repository = found ? &*found : nullptr;
  switch (judge(identity, repository, action, backend.anonymous_read)) {
    case Verdict::allowed:
      return std::move(*found);
    case Verdict::forbidden:
      return std::unexpected(forbidden(identity, *repository, action));
    case Verdict::hidden:
      break;
    case Verdict::sign_in: {
      // Who may see it may be told that it exists.
      if (judge(identity, repository, Action::read, backend.anonymous_read) == Verdict::allowed)
        return std::unexpected(unauthorized("sign in to write: without an account this repository is only read"));
      web::Failure failure = unauthorized("sign in: there is no such repository, or it is not for everybody");
      failure.code = "RepoNotFound";
      return std::unexpected(std::move(failure));
    }
  }
  return std::unexpected(not_found());
}

std::expected<Authorization, web::Failure> authorize(const Backend& backend, web::Call& call, std::string_view owner,
                                                     std::string_view name, Action action) {
  auto identity = TRY(identify(backend, call));
  auto repository = TRY(authorize(backend, identity, owner, name, action));
  return Authorization{std::move(identity), std::move(repository)};
}

}  // namespace stackgate::datastore
