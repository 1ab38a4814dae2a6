#include "services/datastore/gitea/handlers.hpp"
#include "services/datastore/gitea/shapes.hpp"
#include "services/kit/base/try.hpp"
#include "services/kit/web/body_schema.hpp"

namespace stackgate::datastore::gitea {
namespace {

constexpr std::string_view new_user_schema = R"({
  "type": "object",
  "required": ["username"],
  "properties": {
    "username": {"type": "string", "minLength": 1, "maxLength": 40},
    "email": {"type": "string", "maxLength": 254},
    "full_name": {"type": "string", "maxLength": 100},
    "password": {"type": "string", "maxLength": 1024},
    "is_admin": {"type": "boolean"}
  }
})";

std::expected<Identity, web::Failure> identify_admin(Backend& backend, web::Call& call) {
  auto identity = identify_writer(backend, call);
  if (identity && !identity->admin)
    return std::unexpected(web::Failure{.status = 403, .message = "only an administrator may do this"});
  return identity;
}

http::Response user_response(web::Call& call, const Identity& viewer, const Account& account, int status = 200) {
  return json_response(status, [&](json::Writer& w) { Shape{w, call.base_url(), viewer}.user(account); });
}

web::Answer user_page(Backend& backend, web::Call& call, const Identity& viewer, std::string_view search,
                      bool in_envelope) {
  const auto page = TRY(web::read_page(call.query(), web::gitea_pages, default_page, largest_page));
  std::size_t total = 0;
  auto found = TRY(backend.accounts.list(AccountKind::user, search, page.offset(), page.size, &total));
  auto response = json_page(call, page, total, [&](json::Writer& w) {
    for (const Account& account : found) Shape{w, call.base_url(), viewer}.user(account);
  });
  if (in_envelope) response.body = R"({"data":)" + response.body + R"(,"ok":true})";
  return response;
}

web::Answer current_user(Backend& backend, web::Call& call) {
  auto identity = TRY(identify_someone(backend, call));
  auto account = TRY(backend.accounts.find(identity.account));
  return user_response(call, identity, account);
}

web::Answer one_user(Backend& backend, web::Call& call) {
  auto identity = TRY(identify(backend, call));
  if (identity.anonymous() && !backend.anonymous_read) return unauthorized();
  auto account = TRY(backend.accounts.find(call.parameter("username")));
  return user_response(call, identity, account);
}

web::Answer search_users(Backend& backend, web::Call& call) {
  auto identity = TRY(identify_someone(backend, call));
  return user_page(backend, call, identity, call.query().get("q").value_or(""), true);
}

web::Answer all_users(Backend& backend, web::Call& call) {
  auto identity = TRY(identify_admin(backend, call));
  return user_page(backend, call, identity, "", false);
}

web::Answer create_user(Backend& backend, web::Call& call) {
  static const web::BodySchema schema(new_user_schema);
  auto identity = TRY(identify_admin(backend, call));
  auto body = TRY(schema.read(call));
  const json::Value& root = body->root;
  auto made = backend.accounts.create_user(json::text_at(root, "username"), json::text_at(root, "password"),
                                           json::flag_at(root, "is_admin"), json::text_at(root, "full_name"),
                                           json::text_at(root, "email"));
  if (!made) return failure_with(made.error(), 422);
  return user_response(call, identity, *made, 201);
}

web::Answer delete_user(Backend& backend, web::Call& call) {
  auto identity = TRY(identify_admin(backend, call));
  auto account = TRY(backend.accounts.find(call.parameter("username")));
  if (account.kind != AccountKind::user) return web::Failure{.status = 404, .message = "there is no user of that name"};
  if (auto done = backend.accounts.remove(account.name); !done) return failure_with(done.error(), 422);
  return http::Response{.status = 204};
}

}  // namespace

void add_user_routes(Routes& routes, Backend& backend) {
  add(routes, backend, "GET", "/api/v1/user", current_user);
  add(routes, backend, "GET", "/api/v1/users/search", search_users);
  add(routes, backend, "GET", "/api/v1/users/{username}", one_user);
  add(routes, backend, "GET", "/api/v1/admin/users", all_users);
  add(routes, backend, "POST", "/api/v1/admin/users", create_user);
  add(routes, backend, "DELETE", "/api/v1/admin/users/{username}", delete_user);
}

}  // namespace stackgate::datastore::gitea
