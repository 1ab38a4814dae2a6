#include "services/datastore/pages/place.hpp"

#include <algorithm>

#include "services/kit/web/query.hpp"

namespace stackgate::datastore::pages {
namespace place_detail {

/// The request's own address with the first two segments put right.
std::string right_address(const Visit& visit, const Repository& repository) {
  std::string_view rest = visit.call.request().path;
  for (int i = 0; i < 2 && !rest.empty(); ++i) {
    rest.remove_prefix(1);
    rest.remove_prefix(std::min(rest.find('/'), rest.size()));
  }
  std::string out = link_to(repository).text.append(rest);
  if (!visit.call.request().query.empty()) out.append("?").append(visit.call.request().query);
  return out;
}

bool allows(const Visit& visit, const Repository& repository, Action action) {
  return judge(visit.identity, &repository, action, visit.backend().anonymous_read) == Verdict::allowed;
}

/// Moves segments from the path to the revision until it names something.
std::expected<git::Oid, git::GitError> resolve_within(git::Repository& git, std::string& revision, std::string& path) {
  auto found = git.resolve(revision);
  std::string longer = revision, rest = path;
  for (int i = 0; i < 8 && !found && found.error().fault == git::Fault::missing && !rest.empty(); ++i) {
    const auto slash = rest.find('/');
    longer.append("/").append(rest, 0, slash);
    rest.erase(0, slash == std::string::npos ? rest.size() : slash + 1);
    if (auto more = git.resolve(longer)) {
      revision = longer;
      path = rest;
      return more;
    }
  }
  return found;
}

}  // namespace place_detail

std::expected<Place, web::Answer> enter_repository(Visit& visit, Action action) {
  auto found =
      allow(visit.backend(), visit.identity, visit.call.parameter("owner"), visit.call.parameter("repo"), action);
  if (!found) return std::unexpected(std::move(found.error()));
  const std::string_view method = visit.call.request().method;
  if ((method == "GET" || method == "HEAD") &&
      (found->owner != visit.call.parameter("owner") || found->name != visit.call.parameter("repo")))
    return std::unexpected(go_to(visit, {place_detail::right_address(visit, *found)}));
  Place out{.repository = std::move(*found)};
  out.may_write = place_detail::allows(visit, out.repository, Action::write);
  out.may_administer = place_detail::allows(visit, out.repository, Action::administer);
  return out;
}

std::expected<Place, web::Answer> enter_revision(Visit& visit, Action action) {
  auto place = enter_repository(visit, action);
  if (!place) return place;
  auto git = git::Repository::open(visit.backend().repositories.path(place->repository));
  if (!git) return std::unexpected(to_failure(git.error()));
  place->git = std::move(*git);
  place->revision = visit.call.parameter("revision");
  place->path = visit.call.parameter("path");
  while (place->path.ends_with('/')) place->path.pop_back();
  const bool by_default = place->revision.empty();
  if (by_default) place->revision = place->repository.default_branch;
  auto commit = place_detail::resolve_within(*place->git, place->revision, place->path);
  if (commit) {
    place->commit = std::move(*commit);
    const auto tip = place->git->resolve("refs/heads/" + place->revision);
    place->is_branch = tip && *tip == place->commit;
    return place;
  }
  if (commit.error().fault != git::Fault::missing) return std::unexpected(to_failure(commit.error()));
  // Before the first commit the default branch is a name for nothing.
  if (place->revision == place->repository.default_branch && place->path.empty()) {
    const auto refs = place->git->refs();
    if (by_default || (refs && refs->empty())) {
      place->is_branch = true;
      return place;
    }
  }
  return std::unexpected(web::Failure{
      .status = 404, .message = "there is no branch, tag or commit \"" + place->revision + "\" in this repository"});
}

std::expected<References, web::Failure> references_of(const Place& place) {
  auto refs = place.git->refs();
  if (!refs) return std::unexpected(to_failure(refs.error()));
  References out;
  for (const git::Ref& ref : *refs) {
    const std::string_view name = ref.name;
    if (name.starts_with("refs/heads/")) out.branches.emplace_back(name.substr(11));
    if (name.starts_with("refs/tags/")) out.tags.emplace_back(name.substr(10));
  }
  const auto first = std::ranges::find(out.branches, place.repository.default_branch);
  if (first != out.branches.end()) std::rotate(out.branches.begin(), first, first + 1);
  std::ranges::reverse(out.tags);  // later versions first, mostly
  return out;
}

std::string_view short_id(std::string_view oid) { return oid.substr(0, 10); }

git::Signature signature_of(const Visit& visit) {
  git::Signature out{.name = visit.identity.name, .seconds = visit.now};
  if (const auto account = visit.backend().accounts.find(visit.identity.account)) out.email = account->email;
  if (out.email.empty()) out.email = visit.identity.name + "@users.noreply.localhost";
  return out;
}

}  // namespace stackgate::datastore::pages
