#include "services/datastore/guard/guard.hpp"

#include <string>
#include <utility>

#include "services/kit/log/log.hpp"
#include "services/kit/web/basic_auth.hpp"

namespace stackgate::datastore {
namespace {

web::Failure retry_later(int status, std::string message) {
  return {.status = status, .message = std::move(message), .headers = {{"Retry-After", "5"}}};
}

web::Failure not_found() {
  return {.status = 404, .message = "there is no such repository, or it is not yours to see", .code = "RepoNotFound"};
}

web::Failure forbidden(const Identity& identity, const Repository& repository, Action action) {
  if (identity.scope == Scope::read && action != Action::read)
    return {.status = 403, .message = "this token is for reading only; make one with the scope \"write\""};
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

std::expected<Repository, web::Failure> allow(const Backend& backend, const Identity& identity, std::string_view owner,
                                              std::string_view name, Action action) {
  auto found = backend.repositories.find(owner, name);
  if (!found && found.error().fault != RepositoryFault::missing) return std::unexpected(to_failure(found.error()));
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

std::expected<Allowed, web::Failure> allow(const Backend& backend, web::Call& call, std::string_view owner,
                                           std::string_view name, Action action) {
  auto identity = identify(backend, call);
  if (!identity) return std::unexpected(std::move(identity.error()));
  auto repository = allow(backend, *identity, owner, name, action);
  if (!repository) return std::unexpected(std::move(repository.error()));
  return Allowed{std::move(*identity), std::move(*repository)};
}

web::Failure to_failure(const AccountError& error) {
  switch (error.fault) {
    case AccountFault::wrong:
      return unauthorized(error.message);
    case AccountFault::limited:
      return {.status = 429,
              .message = error.message,
              .headers = {{"Retry-After", std::to_string(error.retry_after.count())}}};
    case AccountFault::unavailable:
      return retry_later(503, error.message);
    case AccountFault::missing:
      return {.status = 404, .message = error.message};
    case AccountFault::exists:
      return {.status = 409, .message = error.message};
    case AccountFault::invalid:
      return {.status = 422, .message = error.message};
    case AccountFault::forbidden:
      break;
  }
  return {.status = 403, .message = error.message};
}

web::Failure to_failure(const RepositoryError& error) {
  switch (error.fault) {
    case RepositoryFault::missing:
      return {.status = 404, .message = error.message, .code = "RepoNotFound"};
    case RepositoryFault::exists:
      return {.status = 409, .message = error.message};
    case RepositoryFault::invalid:
      return {.status = 422, .message = error.message};
    case RepositoryFault::unavailable:
      return retry_later(503, error.message);
    case RepositoryFault::full:
      return {.status = 507, .message = error.message};
    case RepositoryFault::broken:
      break;
  }
  return {.status = 500, .message = error.message};
}

web::Failure to_failure(const git::GitError& error) {
  switch (error.fault) {
    case git::Fault::missing:
      return {.status = 404, .message = error.message};
    case git::Fault::invalid:
      return {.status = 422, .message = error.message};
    case git::Fault::conflict:
    case git::Fault::exists:
      return {.status = 409, .message = error.message};
    case git::Fault::full:
      return {.status = 507, .message = error.message};
    case git::Fault::broken:
      break;
  }
  log::error("git failed", {{"cause", error.message}});
  return {.status = 500, .message = "the repository cannot be read; the server's log says why"};
}

web::Failure to_failure(const sql::SqlError& error) {
  if (error.fault == sql::Fault::unfit)
    return {.status = 422, .message = "what was sent holds a NUL or bytes that are no UTF-8"};
  log::error("the database failed", {{"cause", error.message}});
  if (error.fault == sql::Fault::away || error.fault == sql::Fault::busy || error.fault == sql::Fault::conflict)
    return retry_later(503, "the database cannot be reached; try again shortly");
  if (error.fault == sql::Fault::full) return {.status = 507, .message = "no space is left for the database"};
  return {.status = 500, .message = "the database refused the operation; the server's log says why"};
}

web::Failure to_failure(const objects::StoreError& error) {
  switch (error.fault) {
    case objects::Fault::missing:
      return {.status = 404, .message = "the file is not in the store"};
    case objects::Fault::full:
      return {.status = 507, .message = "no space is left in the store"};
    case objects::Fault::away:
      log::error("the object store failed", {{"cause", error.message}});
      return retry_later(503, "the object store cannot be reached; try again shortly");
    case objects::Fault::refused:
    case objects::Fault::broken:
      break;
  }
  log::error("the object store failed", {{"cause", error.message}});
  return {.status = 500, .message = "the object store refused the operation; the server's log says why"};
}

}  // namespace stackgate::datastore
