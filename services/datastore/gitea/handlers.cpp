#include "services/datastore/gitea/handlers.hpp"

#include "services/datastore/routes.hpp"
#include "services/kit/base/try.hpp"

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
        web::Failure{.status = 403, .message = "this token is read-only; make one with the scope \"write\""});
  return identity;
}

std::expected<Authorization, web::Failure> authorize_named(Backend& backend, web::Call& call, Action action) {
  return authorize(backend, call, call.parameter("owner"), call.parameter("repo"), action);
}

std::expected<Opened, web::Failure> open_at(Backend& backend, web::Call& call, std::string_view revision) {
  auto allowed = TRY(authorize_named(backend, call, Action::read));
  auto at = open_revision(backend, allowed.repository, revision);
  if (!at) return std::unexpected(to_failure(at.error()));
  return Opened{std::move(*at), std::move(allowed)};
}

web::Failure failure_with(const ServiceError& error, int taken) {
  web::Failure out = to_failure(error);
  if (error.fault == ServiceFault::exists) out.status = taken;
  return out;
}

}  // namespace stackgate::datastore::gitea
