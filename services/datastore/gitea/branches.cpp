#include "services/datastore/git/write.hpp"
#include "services/datastore/gitea/handlers.hpp"
#include "services/datastore/gitea/shapes.hpp"
#include "services/kit/base/try.hpp"
#include "services/kit/web/body_schema.hpp"

namespace stackgate::datastore::gitea {
namespace {

constexpr std::string_view heads = "refs/heads/", tags = "refs/tags/";

constexpr std::string_view new_branch_schema = R"({
  "type": "object",
  "required": ["new_branch_name"],
  "properties": {
    "new_branch_name": {"type": "string", "minLength": 1, "maxLength": 240},
    "old_branch_name": {"type": "string", "maxLength": 240},
    "old_ref_name": {"type": "string", "maxLength": 255}
  }
})";

constexpr std::string_view new_tag_schema = R"({
  "type": "object",
  "required": ["tag_name"],
  "properties": {
    "tag_name": {"type": "string", "minLength": 1, "maxLength": 240},
    "message": {"type": "string", "maxLength": 65536},
    "target": {"type": "string", "maxLength": 255}
  }
})";

git::Expected<std::vector<git::Ref>> refs_below(git::Repository& git, std::string_view prefix) {
  auto all = TRY(git.refs());
  std::erase_if(all, [&](const git::Ref& ref) { return !ref.name.starts_with(prefix); });
  return all;
}

git::Expected<git::Commit> commit_of(git::Repository& git, const git::Ref& ref) {
  auto commit = git.commit(ref.peeled.empty() ? ref.oid : ref.peeled);
  // A branch is always a commit's: one that is missing is lost.
  if (!commit && ref.name.starts_with(heads)) commit.error().fault = git::Fault::broken;
  return commit;
}

void write_ref(const Shape& shape, const Repository& repository, const git::Ref& ref, const git::Commit& commit) {
  if (ref.name.starts_with(heads))
    shape.branch(repository, std::string_view(ref.name).substr(heads.size()), commit);
  else
    shape.tag(repository, ref, commit);
}

web::Answer ref_page(Backend& backend, web::Call& call, std::string_view prefix) {
  auto opened = TRY(open_at(backend, call, {}));
  const auto page = TRY(web::read_page(call.query(), web::gitea_pages, default_page, largest_page));
  auto refs = TRY(refs_below(*opened.git, prefix));
  std::optional<ServiceError> failure;
  auto response = json_page(call, page, refs.size(), [&](json::Writer& w) {
    const Shape shape{w, call.base_url(), opened.allowed.identity};
    for (std::size_t i = page.offset(); i < std::min(refs.size(), page.offset() + page.size); ++i) {
      const auto commit = commit_of(*opened.git, refs[i]);
      if (commit)
        write_ref(shape, opened.allowed.repository, refs[i], *commit);
      else if (commit.error().fault == git::Fault::broken)  // a tag may name a tree: left out
        failure = commit.error();
    }
  });
  if (failure) return *failure;
  return response;
}

web::Answer ref_response(Backend& backend, web::Call& call, const Authorization& allowed, const std::string& name,
                         int status) {
  const auto git = TRY(open_git(backend, allowed.repository));
  const auto refs = TRY(refs_below(*git, name));
  for (const git::Ref& ref : refs) {
    if (ref.name != name) continue;
    const auto commit = TRY(commit_of(*git, ref));
    return json_response(status, [&](json::Writer& w) {
      write_ref({w, call.base_url(), allowed.identity}, allowed.repository, ref, commit);
    });
  }
  // Listing passes over references that cannot be read.
  if (const auto tip = git->resolve(name); !tip && tip.error().fault == git::Fault::broken)
    return to_failure(tip.error());
  return web::Failure{.status = 404, .message = "there is no " + name};
}

web::Answer one_ref(Backend& backend, web::Call& call, std::string_view prefix) {
  auto allowed = TRY(authorize_named(backend, call, Action::read));
  return ref_response(backend, call, allowed, std::string(prefix).append(call.parameter("name")), 200);
}

/// The commit that a new branch or tag is to stand at; empty is the default branch.
git::Expected<git::Oid> start_of(Backend& backend, const Repository& repository, std::string_view revision) {
  return TRY(open_revision(backend, repository, revision.empty() ? repository.default_branch : revision)).commit;
}

web::Answer create_branch_route(Backend& backend, web::Call& call) {
  static const web::BodySchema schema(new_branch_schema);
  auto allowed = TRY(authorize_named(backend, call, Action::write));
  auto body = TRY(schema.read(call));
  const json::Value& root = body->root;
  const std::string name(json::text_at(root, "new_branch_name"));
  auto at = TRY(start_of(backend, allowed.repository,
                         json::text_at(root, "old_ref_name", json::text_at(root, "old_branch_name"))));
  TRY(git::create_branch(backend.repositories.path(allowed.repository), name, at, false));
  (void)backend.repositories.touch(allowed.repository.id);
  return ref_response(backend, call, allowed, std::string(heads) + name, 201);
}

web::Answer delete_branch_route(Backend& backend, web::Call& call) {
  auto allowed = TRY(authorize_named(backend, call, Action::write));
  if (call.parameter("name") == allowed.repository.default_branch)
    return web::Failure{.status = 403, .message = "the default branch cannot be deleted; choose another default first"};
  TRY(git::delete_branch(backend.repositories.path(allowed.repository), call.parameter("name")));
  (void)backend.repositories.touch(allowed.repository.id);
  return http::Response{.status = 204};
}

web::Answer create_tag_route(Backend& backend, web::Call& call) {
  static const web::BodySchema schema(new_tag_schema);
  auto allowed = TRY(authorize_named(backend, call, Action::write));
  auto body = TRY(schema.read(call));
  const json::Value& root = body->root;
  const std::string name(json::text_at(root, "tag_name"));
  auto at = TRY(start_of(backend, allowed.repository, json::text_at(root, "target")));
  TRY(git::create_tag(backend.repositories.path(allowed.repository), name, at, json::text_at(root, "message"),
                      signature_of(backend, allowed.identity)));
  (void)backend.repositories.touch(allowed.repository.id);
  return ref_response(backend, call, allowed, std::string(tags) + name, 201);
}

web::Answer delete_tag_route(Backend& backend, web::Call& call) {
  auto allowed = TRY(authorize_named(backend, call, Action::write));
  TRY(git::delete_tag(backend.repositories.path(allowed.repository), call.parameter("name")));
  (void)backend.repositories.touch(allowed.repository.id);
  return http::Response{.status = 204};
}

}  // namespace

void add_branch_routes(Routes& routes, Backend& backend) {
  constexpr std::string_view all_branches = "/api/v1/repos/{owner}/{repo}/branches";
  constexpr std::string_view one_branch = "/api/v1/repos/{owner}/{repo}/branches/{name...}";
  constexpr std::string_view all_tags = "/api/v1/repos/{owner}/{repo}/tags";
  constexpr std::string_view one_tag = "/api/v1/repos/{owner}/{repo}/tags/{name...}";
  add(routes, backend, "GET", all_branches, [](Backend& b, web::Call& c) { return ref_page(b, c, heads); });
  add(routes, backend, "GET", one_branch, [](Backend& b, web::Call& c) { return one_ref(b, c, heads); });
  add(routes, backend, "POST", all_branches, create_branch_route);
  add(routes, backend, "DELETE", one_branch, delete_branch_route);
  add(routes, backend, "GET", all_tags, [](Backend& b, web::Call& c) { return ref_page(b, c, tags); });
  add(routes, backend, "GET", one_tag, [](Backend& b, web::Call& c) { return one_ref(b, c, tags); });
  add(routes, backend, "POST", all_tags, create_tag_route);
  add(routes, backend, "DELETE", one_tag, delete_tag_route);
}

}  // namespace stackgate::datastore::gitea
