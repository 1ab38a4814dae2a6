#include "services/datastore/pages/place.hpp"

#include <algorithm>

#include "services/kit/base/try.hpp"

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

}  // namespace place_detail

std::expected<Place, web::Answer> enter_repository(Visit& visit, Action action) {
  auto found = TRY(
      authorize(visit.backend(), visit.identity, visit.call.parameter("owner"), visit.call.parameter("repo"), action));
  const std::string_view method = visit.call.request().method;
  if ((method == "GET" || method == "HEAD") &&
      (found.owner != visit.call.parameter("owner") || found.name != visit.call.parameter("repo")))
    return std::unexpected(go_to(visit, {place_detail::right_address(visit, found)}));
  Place out;
  out.repository = std::move(found);
  out.may_write = place_detail::allows(visit, out.repository, Action::write);
  out.may_administer = place_detail::allows(visit, out.repository, Action::administer);
  return out;
}

std::expected<Place, web::Answer> enter_revision(Visit& visit, Action action) {
  auto place = TRY(enter_repository(visit, action));
  const std::string_view revision = visit.call.parameter("revision");
  std::string_view path = visit.call.parameter("path");
  while (path.ends_with('/')) path.remove_suffix(1);
  const std::string& usual = place.repository.default_branch;
  auto opened = open_revision(visit.backend(), place.repository, revision, path, {usual});
  if (!opened && opened.error().fault != git::Fault::missing) return std::unexpected(to_failure(opened.error()));
  // Before the first commit the default branch is a name for nothing.
  if (!opened || (opened->commit.empty() && !opened->path.empty()))
    return std::unexpected(web::Failure{
        .status = 404,
        .message = "there is no branch, tag or commit \"" + std::string(revision) + "\" in this repository"});
  static_cast<RepositoryAtRevision&>(place) = std::move(*opened);
  const auto tip = place.git->resolve("refs/heads/" + place.revision);
  place.is_branch = place.commit.empty() || (tip && *tip == place.commit);
  return place;
}

std::expected<References, ServiceError> references_of(const Place& place) {
  const auto refs = TRY(place.git->refs());
  References out;
  for (const git::Ref& ref : refs) {
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

}  // namespace stackgate::datastore::pages
