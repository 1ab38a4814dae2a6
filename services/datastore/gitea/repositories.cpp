#include <algorithm>

#include <fmt/format.h>

#include "services/datastore/git/names.hpp"
#include "services/datastore/git/write.hpp"
#include "services/datastore/gitea/handlers.hpp"
#include "services/datastore/gitea/shapes.hpp"
#include "services/kit/base/try.hpp"
#include "services/kit/log/log.hpp"
#include "services/kit/web/body_schema.hpp"
#include "services/kit/web/json.hpp"

namespace stackgate::datastore::gitea {
namespace {

constexpr std::string_view new_repository_schema = R"({
  "type": "object",
  "required": ["name"],
  "properties": {
    "name": {"type": "string", "minLength": 1, "maxLength": 100},
    "description": {"type": "string", "maxLength": 2048},
    "private": {"type": "boolean"},
    "auto_init": {"type": "boolean"},
    "default_branch": {"type": "string", "maxLength": 240},
    "object_format_name": {"enum": ["", "sha1"]},
    "gitignores": {"enum": [""]},
    "license": {"enum": [""]},
    "readme": {"enum": ["", "Default"]},
    "template": {"enum": [false]}
  }
})";

constexpr std::string_view changed_repository_schema = R"({
  "type": "object",
  "properties": {
    "name": {"type": "string", "minLength": 1, "maxLength": 100},
    "description": {"type": "string", "maxLength": 2048},
    "private": {"type": "boolean"},
    "archived": {"type": "boolean"},
    "default_branch": {"type": "string", "minLength": 1, "maxLength": 240}
  }
})";

/// The error is a folder that is damaged: what lies in it is unknown, so it must not be shown as empty.
git::Expected<bool> is_empty(const Backend& backend, const Repository& repository) {
  const auto git = TRY(git::Repository::open(backend.repositories.path(repository)));
  if (!TRY(git->refs()).empty()) return false;
  // Listing passes over references that cannot be read.
  const auto tip = git->resolve("refs/heads/" + repository.default_branch);
  if (!tip && tip.error().fault != git::Fault::missing) return std::unexpected(tip.error());
  return true;
}

web::Answer repository_response(Backend& backend, web::Call& call, const Identity& viewer, const Repository& repository,
                                int status) {
  const auto empty = TRY(is_empty(backend, repository));
  const auto owner = TRY(backend.accounts.find(repository.owner_id));
  return json_response(
      status, [&](json::Writer& w) { Shape{w, call.base_url(), viewer}.repository(repository, owner, empty); });
}

web::Answer create_in(Backend& backend, web::Call& call, const Identity& identity, std::int64_t owner_id) {
  static const web::BodySchema schema(new_repository_schema);
  auto body = TRY(schema.read(call));
  const json::Value& root = body->root;
  NewRepository wanted{.owner_id = owner_id,
                       .name = std::string(json::text_at(root, "name")),
                       .description = std::string(json::text_at(root, "description")),
                       .is_private = json::flag_at(root, "private")};
  if (const std::string_view branch = json::text_at(root, "default_branch"); !branch.empty()) {
    if (auto fault = git::fault_of_branch_name(branch)) return web::Failure{.status = 422, .message = *fault};
    wanted.default_branch = branch;
  }
  auto made = TRY(backend.repositories.create(wanted));
  log::info("repository made", {{"repository", made.full_name()}, {"id", made.id}, {"by", identity.name}});
  if (json::flag_at(root, "auto_init")) (void)TRY(commit_readme(backend, identity, made));
  return repository_response(backend, call, identity, made, 201);
}

web::Answer create_own(Backend& backend, web::Call& call) {
  auto identity = TRY(identify_writer(backend, call));
  return create_in(backend, call, identity, identity.account);
}

web::Answer create_for(Backend& backend, web::Call& call) {
  auto identity = TRY(identify_writer(backend, call));
  auto owner = TRY(backend.accounts.find(call.parameter("owner")));
  if (!may_create_in(identity, owner.id, owner.steward_id))
    return web::Failure{.status = 403, .message = "only its steward and administrators make repositories here"};
  return create_in(backend, call, identity, owner.id);
}

web::Answer one_repository(Backend& backend, web::Call& call) {
  auto allowed = TRY(authorize_named(backend, call, Action::read));
  return repository_response(backend, call, allowed.identity, allowed.repository, 200);
}

/// Languages are not counted; Gitea answers so where it has not yet.
web::Answer languages(Backend& backend, web::Call& call) {
  (void)TRY(authorize_named(backend, call, Action::read));
  return json_response(200, "{}");
}

/// HEAD to a branch that is there; in an empty repository to any good name.
std::expected<void, ServiceError> move_head(Backend& backend, const Repository& repository, std::string_view branch) {
  const auto refs = TRY(TRY(open_git(backend, repository))->refs());
  const std::string full = fmt::format("refs/heads/{}", branch);
  if (!refs.empty() && std::ranges::none_of(refs, [&](const git::Ref& ref) { return ref.name == full; }))
    return std::unexpected(ServiceError{ServiceFault::invalid, fmt::format("there is no branch {}", branch)});
  return git::set_default_branch(backend.repositories.path(repository), branch);
}

web::Answer change_repository(Backend& backend, web::Call& call) {
  static const web::BodySchema schema(changed_repository_schema);
  auto allowed = TRY(authorize_named(backend, call, Action::administer));
  auto body = TRY(schema.read(call));
  const json::Value& root = body->root;
  RepositoryChange change;
  if (root.find("name") != nullptr) change.name = json::text_at(root, "name");
  if (root.find("description") != nullptr) change.description = json::text_at(root, "description");
  if (root.find("private") != nullptr) change.is_private = json::flag_at(root, "private");
  if (root.find("archived") != nullptr) change.archived = json::flag_at(root, "archived");
  if (root.find("default_branch") != nullptr) {
    change.default_branch = json::text_at(root, "default_branch");
    TRY(move_head(backend, allowed.repository, *change.default_branch));
  }
  auto changed = TRY(backend.repositories.update(allowed.repository.id, change));
  return repository_response(backend, call, allowed.identity, changed, 200);
}

web::Answer delete_repository(Backend& backend, web::Call& call) {
  auto allowed = TRY(authorize_named(backend, call, Action::administer));
  TRY(backend.repositories.remove(allowed.repository.id));
  log::info(
      "repository deleted",
      {{"repository", allowed.repository.full_name()}, {"id", allowed.repository.id}, {"by", allowed.identity.name}});
  return http::Response{.status = 204};
}

web::Answer transfer_repository(Backend& backend, web::Call& call) {
  auto allowed = TRY(authorize_named(backend, call, Action::administer));
  const std::string_view name = json::text_at(*TRY(web::read_object(call)), "new_owner");
  if (name.empty()) return web::Failure{.status = 422, .message = "write the new owner's name into \"new_owner\""};
  auto owner = TRY(backend.accounts.find(name));
  if (!may_create_in(allowed.identity, owner.id, owner.steward_id))
    return web::Failure{.status = 403, .message = "you may not make repositories for the new owner"};
  auto changed = TRY(backend.repositories.update(allowed.repository.id, {.owner_id = owner.id}));
  return repository_response(backend, call, allowed.identity, changed, 202);
}

std::expected<RepositoryFilter, web::Failure> read_filter(const web::Query& query) {
  RepositoryFilter filter{.search = std::string(query.get("q").value_or(""))};
  const auto flag = [&](std::string_view name) -> std::optional<bool> {
    const auto text = query.get(name);
    if (!text || text->empty()) return std::nullopt;
    return *text == "true" || *text == "1";
  };
  filter.is_private = flag("private").value_or(true) ? std::nullopt : std::optional(false);  // as Gitea reads it
  if (flag("is_private")) filter.is_private = flag("is_private");
  filter.archived = flag("archived");
  constexpr std::pair<std::string_view, RepositoryOrder> orders[] = {
      {"", RepositoryOrder::name},           {"alpha", RepositoryOrder::name}, {"created", RepositoryOrder::created},
      {"updated", RepositoryOrder::updated}, {"size", RepositoryOrder::size},  {"id", RepositoryOrder::id}};
  const auto* order = std::ranges::find(orders, query.get("sort").value_or(""), [](auto& each) { return each.first; });
  if (order == std::end(orders))
    return std::unexpected(
        web::Failure{.status = 422, .message = "sort must be one of alpha, created, updated, size and id"});
  filter.order = order->second;
  filter.descending = query.get("order").value_or("asc") == "desc";
  return filter;
}

web::Answer repository_page(Backend& backend, web::Call& call, const Identity& viewer, RepositoryFilter filter,
                            bool in_envelope) {
  const auto page = TRY(web::read_page(call.query(), web::gitea_pages, default_page, largest_page));
  filter.skip = page.offset();
  filter.limit = page.size;
  auto found = TRY(backend.repositories.list(viewer, filter));
  std::vector<Account> owners;
  owners.reserve(found.items.size());
  for (const Repository& each : found.items) owners.push_back(TRY(backend.accounts.find(each.owner_id)));
  auto response = json_page(call, page, found.total, [&](json::Writer& w) {
    for (std::size_t i = 0; i < owners.size(); ++i) {
      // One damaged folder does not hide the others.
      const auto empty = is_empty(backend, found.items[i]);
      if (!empty) (void)ServiceError(empty.error());  // the log's line
      Shape{w, call.base_url(), viewer}.repository(found.items[i], owners[i], empty.value_or(false));
    }
  });
  if (in_envelope) response.body = R"({"ok":true,"data":)" + response.body + "}";
  return response;
}

web::Answer search_repositories(Backend& backend, web::Call& call) {
  auto identity = TRY(identify(backend, call));
  if (identity.anonymous() && !backend.anonymous_read) return unauthorized();
  auto filter = TRY(read_filter(call.query()));
  if (const auto owner = call.query().get("owner")) filter.owner = *owner;
  return repository_page(backend, call, identity, std::move(filter), true);
}

web::Answer own_repositories(Backend& backend, web::Call& call) {
  auto identity = TRY(identify_someone(backend, call));
  return repository_page(backend, call, identity, {.owner = identity.name}, false);
}

web::Answer repositories_of(Backend& backend, web::Call& call) {
  auto identity = TRY(identify(backend, call));
  if (identity.anonymous() && !backend.anonymous_read) return unauthorized();
  auto owner = TRY(backend.accounts.find(call.parameter("owner")));
  return repository_page(backend, call, identity, {.owner = owner.name}, false);
}

}  // namespace

void add_repository_routes(Routes& routes, Backend& backend) {
  add(routes, backend, "POST", "/api/v1/user/repos", create_own);
  add(routes, backend, "GET", "/api/v1/user/repos", own_repositories);
  add(routes, backend, "GET", "/api/v1/users/{owner}/repos", repositories_of);
  add(routes, backend, "GET", "/api/v1/orgs/{owner}/repos", repositories_of);
  add(routes, backend, "POST", "/api/v1/orgs/{owner}/repos", create_for);
  add(routes, backend, "POST", "/api/v1/admin/users/{owner}/repos", create_for);
  add(routes, backend, "GET", "/api/v1/repos/search", search_repositories);
  add(routes, backend, "GET", "/api/v1/repos/{owner}/{repo}", one_repository);
  add(routes, backend, "GET", "/api/v1/repos/{owner}/{repo}/languages", languages);
  add(routes, backend, "PATCH", "/api/v1/repos/{owner}/{repo}", change_repository);
  add(routes, backend, "DELETE", "/api/v1/repos/{owner}/{repo}", delete_repository);
  add(routes, backend, "POST", "/api/v1/repos/{owner}/{repo}/transfer", transfer_repository);
}

}  // namespace stackgate::datastore::gitea
