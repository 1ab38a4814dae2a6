#include "services/datastore/hub/place.hpp"

#include "services/datastore/hub/shapes.hpp"
#include "services/kit/base/percent.hpp"
#include "services/kit/base/try.hpp"

namespace stackgate::datastore::hub {

web::Failure bad_request(std::string message) { return {.status = 400, .message = std::move(message)}; }

std::string Place::url() const {
  return hub() + "/" + prefix(type) + percent_encode(repository.owner) + "/" + percent_encode(repository.name);
}

std::optional<web::Failure> check_type(const Repository& repository, RepositoryType type) {
  if (!repository.type || *repository.type == type) return std::nullopt;
  return web::Failure{.status = 404,
                      .message = "the repository is not one of the " + plural(type),
                      .code = std::string(repo_not_found)};
}

std::expected<Place, web::Failure> enter(const Backend& backend, web::Call& call, RepositoryType type, Action action) {
  auto allowed = TRY(authorize(backend, call, call.parameter("owner"), call.parameter("name"), action));
  if (auto other = check_type(allowed.repository, type)) return std::unexpected(std::move(*other));
  return Place{std::move(allowed.repository), std::move(allowed.identity), type, call.base_url()};
}

std::expected<RepositoryAtRevision, web::Failure> open_at(const Backend& backend, const Place& place,
                                                          std::string_view revision, std::string_view path) {
  if (revision.empty()) revision = "HEAD";
  auto opened =
      open_revision(backend, place.repository, revision, path, {"HEAD", "main", place.repository.default_branch});
  if (opened) return std::move(*opened);
  if (!names_nothing(opened.error())) return std::unexpected(to_failure(opened.error()));
  return std::unexpected(web::Failure{.status = 404,
                                      .message = "there is no branch, tag or commit \"" + std::string(revision) + "\"",
                                      .code = std::string(revision_not_found)});
}

web::Failure entry_failure(const git::GitError& error) {
  web::Failure out = to_failure(error);
  if (names_nothing(error)) {
    out.status = 404;
    out.code = entry_not_found;
  }
  return out;
}

}  // namespace stackgate::datastore::hub
