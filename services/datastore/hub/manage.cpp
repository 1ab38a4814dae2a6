// Repositories made, deleted, moved, changed.

#include "services/datastore/git/names.hpp"
#include "services/datastore/git/write.hpp"
#include "services/datastore/hub/handlers.hpp"
#include "services/datastore/hub/place.hpp"
#include "services/datastore/hub/shapes.hpp"
#include "services/kit/base/base64.hpp"
#include "services/kit/base/try.hpp"
#include "services/kit/web/json.hpp"

namespace stackgate::datastore::hub {

namespace {

struct FullName {
  std::string owner, name;
};

/// "name" with "organization", or "owner/name".
FullName full_name(const json::Value& body, std::string_view fallback_owner) {
  FullName out{std::string(json::text_at(body, "organization")), std::string(json::text_at(body, "name"))};
  if (const auto slash = out.name.find('/'); slash != std::string::npos) {
    out.owner = out.name.substr(0, slash);
    out.name.erase(0, slash + 1);
  }
  if (out.owner.empty()) out.owner = fallback_owner;
  return out;
}

std::optional<bool> wants_private(const json::Value& body) {
  if (const json::Value* flag = body.find("private"); flag != nullptr && flag->is_boolean()) return flag->boolean();
  const std::string_view visibility = json::text_at(body, "visibility");
  if (visibility.empty()) return {};
  return visibility != "public";
}

std::expected<RepositoryType, web::Failure> wanted_type(const json::Value& body) {
  const std::string_view word = json::text_at(body, "type");
  if (const auto type = parse_type(word.empty() ? "model" : word)) return *type;
  return std::unexpected(bad_request("\"type\" must be model, dataset or space"));
}

/// A name space where this account may make repositories.
std::expected<Account, web::Failure> name_space(const Backend& backend, const Identity& identity,
                                                const std::string& owner) {
  if (identity.scope == Scope::read)
    return std::unexpected(web::Failure{.status = 403, .message = "this token is read-only"});
  auto account = backend.accounts.find(owner);
  if (!account && account.error().fault != ServiceFault::missing) return std::unexpected(to_failure(account.error()));
  if (!account || !may_create_in(identity, account->id, account->steward_id))
    return std::unexpected(
        web::Failure{.status = 403, .message = "you may not create repositories in the name space \"" + owner + "\""});
  return std::move(*account);
}

/// What the new repository begins with: "files" (base64) and a README.md that names the licence.
std::expected<std::vector<git::Change>, web::Failure> first_files(const json::Value& body) {
  std::vector<git::Change> out;
  bool has_readme = false;
  if (const json::Value* files = body.find("files"); files != nullptr && files->is_array()) {
    for (const json::Value& file : files->items()) {
      git::Change change{.path = std::string(json::text_at(file, "path"))};
      if (const auto fault = git::fault_of_path(change.path))
        return std::unexpected(bad_request("\"files\": " + change.path + ": " + *fault));
      auto content = base64::decode(json::text_at(file, "content"));
      if (!content) return std::unexpected(bad_request("\"files\": " + change.path + ": the content is not base64"));
      change.content = std::move(*content);
      has_readme = has_readme || change.path == "README.md";
      out.push_back(std::move(change));
    }
  }
  const std::string license(json::text_at(body, "license"));
  if (license.find_first_not_of("abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789-._") !=
      std::string::npos)
    return std::unexpected(bad_request("\"license\" must be an identifier such as \"apache-2.0\""));
  if (!license.empty() && !has_readme)
    out.push_back({.path = "README.md", .content = "---\nlicense: " + license + "\n---\n"});
  return out;
}

}  // namespace

web::Answer create_repository(const Backend& backend, web::Call& call) {
  const json::Value& root = *TRY(web::read_object(call));
  const auto identity = TRY(identify_someone(backend, call));
  const auto type = TRY(wanted_type(root));
  const FullName wanted = full_name(root, identity.name);
  const auto owner = TRY(name_space(backend, identity, wanted.owner));
  const auto files = TRY(first_files(root));
  auto made = backend.repositories.create(
      {.owner_id = owner.id, .name = wanted.name, .type = type, .is_private = wants_private(root).value_or(false)});
  Place place{.repository = {.owner = owner.name, .name = wanted.name},
              .identity = identity,
              .type = type,
              .base = call.base_url()};
  if (!made && made.error().fault == ServiceFault::exists) {
    // Clients that do not mind read the address from this answer as from the other.
    http::Response exists{.status = 409};
    const std::string id = place.repository.full_name();
    const std::string message = "you already created this repository, or another one has its name: " + id;
    if (const auto there = backend.repositories.find(owner.name, wanted.name); there && there->type)
      place.type = *there->type;
    exists.body = created(place.url(), id, message);
    exists.headers = {{"X-Error-Message", "the repository exists already"}};
    return exists;
  }
  if (!made) return to_failure(made.error());
  place.repository = std::move(*made);
  if (!files.empty()) {
    const git::Signature who = signature_of(backend, identity);
    (void)TRY(git::commit_changes(
        backend.repositories.path(place.repository),
        {.branch = place.repository.default_branch, .message = "initial commit\n", .author = who, .committer = who},
        files));
  }
  return json_answer(created(place.url(), place.repository.full_name()));
}

web::Answer delete_repository(const Backend& backend, web::Call& call) {
  const json::Value& root = *TRY(web::read_object(call));
  const auto identity = TRY(identify_someone(backend, call));
  const FullName name = full_name(root, identity.name);
  const auto type = TRY(wanted_type(root));
  const auto repository = TRY(authorize(backend, identity, name.owner, name.name, Action::administer));
  if (auto other = check_type(repository, type)) return std::move(*other);
  TRY(backend.repositories.remove(repository.id));
  return json_answer("{}");
}

web::Answer move_repository(const Backend& backend, web::Call& call) {
  const json::Value& root = *TRY(web::read_object(call));
  const auto identity = TRY(identify_someone(backend, call));
  const auto split = [](std::string_view text) {
    const auto slash = text.find('/');
    return slash == std::string_view::npos
               ? FullName{{}, std::string(text)}
               : FullName{std::string(text.substr(0, slash)), std::string(text.substr(slash + 1))};
  };
  const FullName from = split(json::text_at(root, "fromRepo")), to = split(json::text_at(root, "toRepo"));
  if (from.owner.empty() || from.name.empty() || to.owner.empty() || to.name.empty())
    return bad_request(R"("fromRepo" and "toRepo" must be "owner/name")");
  const auto repository = TRY(authorize(backend, identity, from.owner, from.name, Action::administer));
  const auto owner = TRY(name_space(backend, identity, to.owner));
  auto moved = TRY(backend.repositories.update(repository.id, {.name = to.name, .owner_id = owner.id}));
  return json_answer("{}");
}

web::Answer put_settings(const Backend& backend, web::Call& call, RepositoryType type) {
  const json::Value& root = *TRY(web::read_object(call));
  const auto place = TRY(enter(backend, call, type, Action::administer));
  RepositoryChange change{.is_private = wants_private(root)};
  if (const json::Value* text = root.find("description"); text != nullptr && text->is_string())
    change.description = text->string();
  if (const json::Value* gated = root.find("gated"); gated != nullptr && (gated->boolean() || gated->is_string()))
    return bad_request("access by request (\"gated\") is not offered here; make the repository private instead");
  auto done = TRY(backend.repositories.update(place.repository.id, change));
  return json_answer([&](json::Writer& w) { w.object([&] { w.member("private", done.is_private); }); });
}

}  // namespace stackgate::datastore::hub
