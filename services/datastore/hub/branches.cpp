// Branches and tags made and deleted.
#include "services/datastore/git/names.hpp"
#include "services/datastore/git/write.hpp"
#include "services/datastore/hub/handlers.hpp"
#include "services/datastore/hub/place.hpp"
#include "services/kit/base/try.hpp"
#include "services/kit/web/json.hpp"

namespace stackgate::datastore::hub {

namespace {

/// The body may be missing altogether.
std::expected<const json::Value*, web::Failure> optional_object(web::Call& call) {
  static const json::Value none{};
  const auto body = TRY(call.body());
  if (body.empty()) return &none;
  return web::read_object(call);
}

web::Failure moved(const git::GitError& error) {
  web::Failure out = to_failure(error);
  if (error.fault == git::Fault::exists) out.status = 409;
  if (error.fault == git::Fault::missing) out.code = revision_not_found;
  return out;
}

}  // namespace

web::Answer post_branch(const Backend& backend, web::Call& call, RepositoryType type) {
  const json::Value& root = *TRY(optional_object(call));
  const auto place = TRY(enter(backend, call, type, Action::write));
  const std::string name(call.parameter("branch"));
  if (const auto fault = git::fault_of_branch_name(name))
    return bad_request("the branch name cannot be used: " + *fault);
  const std::string_view start = json::text_at(root, "startingPoint");
  const bool overwrite = json::flag_at(root, "overwrite"), empty = json::flag_at(root, "emptyBranch");
  const std::string path = backend.repositories.path(place.repository);
  const bool exists = TRY(open_git(backend, place.repository))->resolve("refs/heads/" + name).has_value();
  if (exists && !overwrite) return web::Failure{.status = 409, .message = "the branch \"" + name + "\" exists already"};
  if (exists && start.empty() && !empty) return json_answer("{}");
  if (empty) {
    if (exists)
      if (auto gone = git::delete_branch(path, name); !gone) return moved(gone.error());
    const git::Signature who = signature_of(backend, place.identity);
    auto made = git::commit_changes(
        path, {.branch = name, .message = "Initial commit\n", .author = who, .committer = who, .allow_empty = true},
        {});
    if (!made) return moved(made.error());
    return json_answer("{}");
  }
  const auto opened = TRY(open_at(backend, place, start));
  if (opened.commit.empty())
    return web::Failure{.status = 409, .message = "nothing has been committed yet: there is nothing to branch from"};
  if (auto made = git::create_branch(path, name, opened.commit, overwrite); !made) return moved(made.error());
  return json_answer("{}");
}

web::Answer delete_branch(const Backend& backend, web::Call& call, RepositoryType type) {
  const auto place = TRY(enter(backend, call, type, Action::write));
  const std::string_view name = call.parameter("branch");
  if (name == place.repository.default_branch)
    return web::Failure{.status = 403,
                        .message = "the default branch cannot be deleted; make another one the default first"};
  if (auto gone = git::delete_branch(backend.repositories.path(place.repository), name); !gone)
    return moved(gone.error());
  return json_answer("{}");
}

web::Answer post_tag(const Backend& backend, web::Call& call, RepositoryType type) {
  const json::Value& root = *TRY(optional_object(call));
  const auto place = TRY(enter(backend, call, type, Action::write));
  const std::string name(json::text_at(root, "tag"));
  if (const auto fault = git::fault_of_branch_name(name)) return bad_request("\"tag\": " + *fault);
  const auto opened = TRY(open_at(backend, place, call.parameter("revision")));
  if (opened.commit.empty())
    return web::Failure{.status = 409, .message = "nothing has been committed yet: there is nothing to tag"};
  auto made = git::create_tag(backend.repositories.path(place.repository), name, opened.commit,
                              json::text_at(root, "message"), signature_of(backend, place.identity));
  if (!made) return moved(made.error());
  return json_answer("{}");
}

web::Answer delete_tag(const Backend& backend, web::Call& call, RepositoryType type) {
  const auto place = TRY(enter(backend, call, type, Action::write));
  auto gone = git::delete_tag(backend.repositories.path(place.repository), call.parameter("revision"));
  if (!gone) return moved(gone.error());
  return json_answer("{}");
}

}  // namespace stackgate::datastore::hub
