#include "services/datastore/gitea/handlers.hpp"
#include "services/kit/base/try.hpp"
#include "services/kit/web/json.hpp"
#include "services/kit/web/media_type.hpp"

namespace stackgate::datastore::gitea {
namespace {

// NeMo Data Store's name spaces are accounts here: what POST makes is an organisation of the caller's.

http::Response namespace_response(int status, const Account& account) {
  return json_object(status, [&](json::Writer& w) {
    w.member("namespace", account.name);
    w.member("created_at", account.created_at);
    w.member("updated_at", account.updated_at);
  });
}

/// The form's field, or the same member of a JSON body.
std::expected<std::string, web::Failure> wanted_name(web::Call& call) {
  if (web::is_json_type(call.request().header("Content-Type"))) {
    return std::string(json::text_at(*TRY(web::read_object(call)), "namespace"));
  }
  auto body = TRY(call.body());
  return std::string(web::Query::parse(body).get("namespace").value_or(""));
}

web::Answer create_namespace(Backend& backend, web::Call& call) {
  auto identity = TRY(identify_writer(backend, call));
  auto name = TRY(wanted_name(call));
  if (name.empty())
    return web::Failure{.status = 422, .message = "the field \"namespace\" is missing; send it as a form or as JSON"};
  auto made = TRY(backend.accounts.create_organization(name, identity.account));
  return namespace_response(201, made);
}

web::Answer one_namespace(Backend& backend, web::Call& call) {
  auto identity = TRY(identify_someone(backend, call));
  auto account = TRY(backend.accounts.find(call.parameter("name")));
  return namespace_response(200, account);
}

web::Answer delete_namespace(Backend& backend, web::Call& call) {
  auto identity = TRY(identify_writer(backend, call));
  auto account = TRY(backend.accounts.find(call.parameter("name")));
  if (account.kind != AccountKind::organization || !may_create_in(identity, account.id, account.steward_id))
    return web::Failure{.status = 403, .message = "the name space is not yours to delete"};
  TRY(backend.accounts.remove(account.name));
  return http::Response{.status = 204};
}

}  // namespace

void add_namespace_routes(Routes& routes, Backend& backend) {
  add(routes, backend, "POST", "/v1/datastore/namespaces", create_namespace);
  add(routes, backend, "GET", "/v1/datastore/namespaces/{name}", one_namespace);
  add(routes, backend, "DELETE", "/v1/datastore/namespaces/{name}", delete_namespace);
  for (std::size_t i = routes.size() - 3; i < routes.size(); ++i) routes[i].options.dialect = web::Dialect::nemo;
}

}  // namespace stackgate::datastore::gitea
