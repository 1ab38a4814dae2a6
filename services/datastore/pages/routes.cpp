#include "services/datastore/routes.hpp"

#include <memory>

#include "services/datastore/pages/assets.hpp"
#include "services/datastore/pages/handlers.hpp"

namespace stackgate::datastore::pages {
namespace routes_detail {

struct PageRoute {
  std::string_view method, pattern;
  Handle* handle;
  bool is_file = false;
};

constexpr PageRoute table[] = {
    {"GET", "/", get_repositories},
    {"GET", "/-/sign-in", get_sign_in},
    {"POST", "/-/sign-in", post_sign_in},
    {"POST", "/-/sign-out", post_sign_out},
    {"GET", "/-/new", get_new},
    {"POST", "/-/new", post_new},
    {"GET", "/-/tokens", get_tokens},
    {"POST", "/-/tokens", post_token},
    {"POST", "/-/tokens/revoke", post_revoke},
    {"GET", "/{owner}", get_account},
    {"GET", "/{owner}/{repo}", get_tree},
    {"GET", "/{owner}/{repo}.git", redirect_git_address},
    {"GET", "/{owner}/{repo}/tree/{revision}", get_tree},
    {"GET", "/{owner}/{repo}/tree/{revision}/{path...}", get_tree},
    {"GET", "/{owner}/{repo}/blob/{revision}/{path...}", get_blob},
    {"GET", "/{owner}/{repo}/raw/{revision}/{path...}", get_raw, true},
    {"GET", "/{owner}/{repo}/commits/{revision}", get_commits},
    {"GET", "/{owner}/{repo}/commits/{revision}/{path...}", get_commits},
    {"GET", "/{owner}/{repo}/commit/{revision}", get_commit},
    {"GET", "/{owner}/{repo}/refs", get_refs},
    {"GET", "/{owner}/{repo}/settings", get_settings},
    {"POST", "/{owner}/{repo}/settings", post_settings},
    {"POST", "/{owner}/{repo}/settings/rename", post_rename},
    {"POST", "/{owner}/{repo}/settings/delete", post_delete},
    {"GET", "/{owner}/{repo}/upload/{revision}", get_upload},
    {"GET", "/{owner}/{repo}/upload/{revision}/{path...}", get_upload},
};

web::Answer serve(const Site& site, web::Call& call, Handle* handle) {
  auto visit = enter_site(site, call);
  if (!visit) {
    Visit nobody{.site = site, .call = call, .base_url = call.base_url()};
    return failure_page(nobody, visit.error());
  }
  web::Answer answer = handle(*visit);
  if (const auto* failure = std::get_if<web::Failure>(&answer)) return failure_page(*visit, *failure);
  return answer;
}

}  // namespace routes_detail

std::vector<web::Route> routes(Backend& backend) {
  const auto site = std::make_shared<const Site>(backend);
  const auto bound = [&site](Handle* handle) {
    return [site, handle](web::Call& call) { return routes_detail::serve(*site, call, handle); };
  };
  std::vector<web::Route> out = asset_routes();
  for (const routes_detail::PageRoute& each : routes_detail::table)
    out.push_back({each.method,
                   each.pattern,
                   bound(each.handle),
                   {.dialect = web::Dialect::html, .transfer = each.is_file, .body_bytes = 64 * 1024}});
  const web::RouteOptions streamed{.dialect = web::Dialect::html, .streams_body = true, .body_bytes = 0};
  out.push_back({"POST", "/{owner}/{repo}/upload/{revision}", bound(post_upload), streamed});
  out.push_back({"POST", "/{owner}/{repo}/upload/{revision}/{path...}", bound(post_upload), streamed});
  return out;
}

}  // namespace stackgate::datastore::pages
