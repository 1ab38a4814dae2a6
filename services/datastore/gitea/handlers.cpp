#include "services/datastore/gitea/handlers.hpp"

#include "services/datastore/gitea/routes.hpp"

namespace stackgate::datastore::gitea {

std::vector<web::Route> routes(Backend& backend) {
  Routes all;
  for (const auto add_part :
       {add_server_routes, add_user_routes, add_token_routes, add_organization_routes, add_repository_routes,
        add_branch_routes, add_commit_routes, add_content_routes, add_namespace_routes})
    add_part(all, backend);
  return all;
}

std::expected<Identity, web::Failure> identify_writer(Backend& backend, web::Call& call) {
  auto identity = identify_someone(backend, call);
  if (identity && identity->scope == Scope::read)
    return std::unexpected(
        web::Failure{.status = 403, .message = "this token is for reading only; make one with the scope \"write\""});
  return identity;
}

std::expected<Allowed, web::Failure> allow_named(Backend& backend, web::Call& call, Action action) {
  return allow(backend, call, call.parameter("owner"), call.parameter("repo"), action);
}

std::expected<Opened, web::Failure> open_at(Backend& backend, web::Call& call, std::string_view revision) {
  auto allowed = allow_named(backend, call, Action::read);
  if (!allowed) return std::unexpected(std::move(allowed.error()));
  auto git = git::Repository::open(backend.repositories.path(allowed->repository));
  if (!git) return std::unexpected(to_failure(git.error()));
  Opened out{std::move(*allowed), std::move(*git), {}};
  auto commit = out.git->resolve(revision.empty() ? out.allowed.repository.default_branch : std::string(revision));
  if (commit)
    out.commit = *commit;
  else if (!revision.empty() || commit.error().fault != git::Fault::missing)
    return std::unexpected(to_failure(commit.error()));
  return out;
}

std::string_view text_of(const json::Value& body, std::string_view key, std::string_view fallback) {
  const json::Value* found = body.find(key);
  return found != nullptr && found->is_string() ? found->string() : fallback;
}

bool flag_of(const json::Value& body, std::string_view key, bool fallback) {
  const json::Value* found = body.find(key);
  return found != nullptr && found->is_boolean() ? found->boolean() : fallback;
}

http::Response json_response(int status, std::string body, web::Headers headers) {
  return {.status = status,
          .content_type = "application/json;charset=utf-8",
          .headers = std::move(headers),
          .body = std::move(body)};
}

}  // namespace stackgate::datastore::gitea
