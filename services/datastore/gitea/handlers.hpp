// What the handlers of this folder share, and their groups. Only for its .cpp files.
#pragma once
#include <expected>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "services/datastore/backend.hpp"
#include "services/datastore/guard/guard.hpp"
#include "services/datastore/guard/revision.hpp"
#include "services/kit/json/value.hpp"
#include "services/kit/web/json.hpp"
#include "services/kit/web/paging.hpp"
#include "services/kit/web/route.hpp"

namespace stackgate::datastore::gitea {

// Gitea's own defaults; clients ask for them at /settings/api.
inline constexpr std::uint64_t default_page = 30, largest_page = 50;

using Routes = std::vector<web::Route>;
using Handle = web::Answer (*)(Backend&, web::Call&);

inline void add(Routes& routes, Backend& backend, std::string_view method, std::string_view pattern, Handle handle) {
  routes.push_back({.method = method,
                    .pattern = pattern,
                    .handler = [&backend, handle](web::Call& call) { return handle(backend, call); },
                    .options = {.dialect = web::Dialect::gitea}});
}

using AddRoutes = void(Routes& routes, Backend& backend);
AddRoutes add_server_routes;                  // version, healthz, settings
AddRoutes add_user_routes, add_token_routes;  // user, users, admin/users; users/{name}/tokens
AddRoutes add_organization_routes;
AddRoutes add_repository_routes, add_branch_routes;  // making, changing, listing; branches, tags
AddRoutes add_commit_routes, add_content_routes;     // commits, git/trees; contents, raw, media
AddRoutes add_namespace_routes;                      // /v1/datastore/namespaces

/// 401 for nobody, 403 for a token that may only read.
std::expected<Identity, web::Failure> identify_writer(Backend& backend, web::Call& call);

/// "{owner}" and "{repo}" of the pattern.
std::expected<Authorization, web::Failure> authorize_named(Backend& backend, web::Call& call, Action action);

/// The same, opened at `revision`; empty is the default branch, which may be unborn.
struct Opened : RepositoryAtRevision {
  Authorization allowed;
};
std::expected<Opened, web::Failure> open_at(Backend& backend, web::Call& call, std::string_view revision);

/// With Gitea's own status for a name that is taken.
web::Failure failure_with(const ServiceError& error, int taken);

/// `write` puts one value into a json::Writer. With Gitea's own type.
template <typename Write>
http::Response json_response(int status, Write&& write, web::Headers headers = {}) {
  http::Response out = web::json_answer(std::forward<Write>(write), std::move(headers), status);
  out.content_type = "application/json;charset=utf-8";
  return out;
}

template <typename Body>
http::Response json_object(int status, Body&& body) {
  return json_response(status, [&](json::Writer& w) { w.object([&] { body(w); }); });
}

/// A list with X-Total-Count and Link; `write_each` writes the items into an open array.
template <typename Body>
http::Response json_page(web::Call& call, const web::Page& page, std::uint64_t total, Body&& write_each) {
  web::Headers headers;
  web::add_page_headers(headers, call.base_url() + std::string(call.request().path), call.query(), web::gitea_pages,
                        page, total);
  return json_response(200, [&](json::Writer& w) { w.array([&] { write_each(w); }); }, std::move(headers));
}

}  // namespace stackgate::datastore::gitea
