#include "services/datastore/hub/place.hpp"

#include <chrono>

#include "services/datastore/git/names.hpp"
#include "services/datastore/hub/shapes.hpp"
#include "services/kit/web/query.hpp"

namespace stackgate::datastore::hub {

http::Response json_answer(std::string body, web::Headers headers) {
  return {.status = 200, .headers = std::move(headers), .body = std::move(body)};
}

web::Failure bad_request(std::string message) { return {.status = 400, .message = std::move(message)}; }

std::string Place::url() const {
  return hub() + "/" + std::string(prefix(type)) + web::percent_encode(repository.owner) + "/" +
         web::percent_encode(repository.name);
}

std::expected<Place, web::Failure> enter(const Backend& backend, web::Call& call, RepositoryType type, Action action) {
  auto allowed = allow(backend, call, call.parameter("owner"), call.parameter("name"), action);
  if (!allowed) return std::unexpected(std::move(allowed.error()));
  if (allowed->repository.type && *allowed->repository.type != type)
    return std::unexpected(web::Failure{.status = 404,
                                        .message = "the repository is none of the " + std::string(plural(type)),
                                        .code = std::string(repo_not_found)});
  return Place{std::move(allowed->repository), std::move(allowed->identity), type, call.base_url()};
}

std::expected<std::unique_ptr<git::Repository>, web::Failure> open_git(const Backend& backend, const Place& place) {
  auto opened = git::Repository::open(backend.repositories.path(place.repository));
  if (!opened) return std::unexpected(to_failure(opened.error()));
  return std::move(*opened);
}

namespace {

web::Failure no_revision(std::string_view revision) {
  return {.status = 404,
          .message = "there is no branch, tag or commit \"" + std::string(revision) + "\"",
          .code = std::string(revision_not_found)};
}

/// Branches that clients name by themselves, before there is any.
bool may_be_unborn(const Repository& repository, std::string_view revision) {
  return revision == "HEAD" || revision == "main" || revision == repository.default_branch;
}

}  // namespace

std::expected<Opened, web::Failure> open_at(const Backend& backend, const Place& place, std::string_view revision) {
  auto git = open_git(backend, place);
  if (!git) return std::unexpected(std::move(git.error()));
  Opened out{.git = std::move(*git), .fixed = git::is_oid(revision)};
  auto commit = out.git->resolve(revision);
  if (commit) {
    out.commit = std::move(*commit);
    return out;
  }
  if (commit.error().fault != git::Fault::missing && commit.error().fault != git::Fault::invalid)
    return std::unexpected(to_failure(commit.error()));
  const auto refs = out.git->refs();
  if (!refs) return std::unexpected(to_failure(refs.error()));
  if (!refs->empty() || !may_be_unborn(place.repository, revision)) return std::unexpected(no_revision(revision));
  return out;
}

std::expected<Opened, web::Failure> open_within(const Backend& backend, const Place& place, std::string_view revision,
                                                std::string& path) {
  auto first = open_at(backend, place, revision);
  if (first || first.error().code != revision_not_found) return first;
  std::string longer(revision), rest = path;
  for (int depth = 0; depth < 8 && !rest.empty(); ++depth) {
    const auto slash = rest.find('/');
    longer += "/" + rest.substr(0, slash);
    rest = slash == std::string::npos ? "" : rest.substr(slash + 1);
    auto next = open_at(backend, place, longer);
    if (!next) continue;
    path = rest;
    return next;
  }
  return first;
}

web::Failure entry_failure(const git::GitError& error) {
  web::Failure out = to_failure(error);
  if (error.fault == git::Fault::missing || error.fault == git::Fault::invalid) {
    out.status = 404;
    out.code = entry_not_found;
  }
  return out;
}

git::Signature signature_of(const Backend& backend, const Identity& identity) {
  using namespace std::chrono;
  git::Signature out{.name = identity.name,
                     .seconds = duration_cast<seconds>(system_clock::now().time_since_epoch()).count()};
  if (const auto account = backend.accounts.find(identity.account)) out.email = account->email;
  if (out.email.empty()) out.email = identity.name + "@users.noreply.localhost";
  return out;
}

}  // namespace stackgate::datastore::hub
