#include "services/datastore/gitea/handlers.hpp"
#include "services/datastore/gitea/shapes.hpp"
#include "services/kit/base/try.hpp"
#include "services/kit/web/body_schema.hpp"

namespace stackgate::datastore::gitea {
namespace {

constexpr std::string_view new_organization_schema = R"({
  "type": "object",
  "required": ["username"],
  "properties": {
    "username": {"type": "string", "minLength": 1, "maxLength": 40},
    "full_name": {"type": "string", "maxLength": 100}
  }
})";

web::Answer organization_page(Backend& backend, web::Call& call) {
  auto identity = TRY(identify_someone(backend, call));
  const auto page = TRY(web::read_page(call.query(), web::gitea_pages, default_page, largest_page));
  std::size_t total = 0;
  auto found = TRY(backend.accounts.list(AccountKind::organization, "", page.offset(), page.size, &total));
  return json_page(call, page, total, [&](json::Writer& w) {
    for (const Account& account : found) Shape{w, call.base_url(), identity}.organization(account);
  });
}

web::Answer create_organization(Backend& backend, web::Call& call) {
  static const web::BodySchema schema(new_organization_schema);
  auto identity = TRY(identify_writer(backend, call));
  auto body = TRY(schema.read(call));
  const json::Value& root = body->root;
  auto made = backend.accounts.create_organization(json::text_at(root, "username"), identity.account,
                                                   json::text_at(root, "full_name"));
  if (!made) return failure_with(made.error(), 422);
  return json_response(201, [&](json::Writer& w) { Shape{w, call.base_url(), identity}.organization(*made); });
}

std::expected<Account, ServiceError> find_organization(Backend& backend, web::Call& call) {
  auto account = TRY(backend.accounts.find(call.parameter("org")));
  if (account.kind != AccountKind::organization)
    return std::unexpected(ServiceError{ServiceFault::missing, "there is no organisation of that name"});
  return account;
}

web::Answer one_organization(Backend& backend, web::Call& call) {
  auto identity = TRY(identify(backend, call));
  if (identity.anonymous() && !backend.anonymous_read) return unauthorized();
  auto account = TRY(find_organization(backend, call));
  return json_response(200, [&](json::Writer& w) { Shape{w, call.base_url(), identity}.organization(account); });
}

web::Answer delete_organization(Backend& backend, web::Call& call) {
  auto identity = TRY(identify_writer(backend, call));
  auto account = TRY(find_organization(backend, call));
  if (!may_create_in(identity, account.id, account.steward_id))
    return web::Failure{.status = 403, .message = "the organisation belongs to another account"};
  TRY(backend.accounts.remove(account.name));
  return http::Response{.status = 204};
}

}  // namespace

void add_organization_routes(Routes& routes, Backend& backend) {
  add(routes, backend, "GET", "/api/v1/orgs", organization_page);
  add(routes, backend, "GET", "/api/v1/user/orgs", organization_page);
  add(routes, backend, "POST", "/api/v1/orgs", create_organization);
  add(routes, backend, "GET", "/api/v1/orgs/{org}", one_organization);
  add(routes, backend, "DELETE", "/api/v1/orgs/{org}", delete_organization);
}

}  // namespace stackgate::datastore::gitea
