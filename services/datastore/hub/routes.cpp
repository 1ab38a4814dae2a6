#include "services/datastore/routes.hpp"

#include "services/datastore/hub/handlers.hpp"

namespace stackgate::datastore::hub {

namespace {

constexpr web::RouteOptions small{.dialect = web::Dialect::hub};
constexpr web::RouteOptions large{
    .dialect = web::Dialect::hub, .body_bytes = 16 * 1024 * 1024, .body_deadline = std::chrono::minutes(3)};
constexpr web::RouteOptions file{.dialect = web::Dialect::hub, .transfer = true};
constexpr web::RouteOptions streamed{.dialect = web::Dialect::hub, .streams_body = true, .body_bytes = 0};
constexpr web::RouteOptions git_lfs{.dialect = web::Dialect::lfs};

struct TypedRoute {
  std::string_view method;
  std::string_view model, dataset, space;  // the pattern for each type: patterns are constants
  HandleTyped* handle;
  web::RouteOptions options = small;
};

#define STACKGATE_HUB_API(rest) "/v1/hf/api/models" rest, "/v1/hf/api/datasets" rest, "/v1/hf/api/spaces" rest
#define STACKGATE_HUB_FILES(rest) \
  "/v1/hf/{owner}/{name}" rest, "/v1/hf/datasets/{owner}/{name}" rest, "/v1/hf/spaces/{owner}/{name}" rest

constexpr TypedRoute typed[] = {
    {"GET", STACKGATE_HUB_API(""), get_list},
    {"GET", STACKGATE_HUB_API("/{owner}/{name}"), get_info},
    {"GET", STACKGATE_HUB_API("/{owner}/{name}/revision/{revision}"), get_info},
    {"PUT", STACKGATE_HUB_API("/{owner}/{name}/settings"), put_settings},
    {"GET", STACKGATE_HUB_API("/{owner}/{name}/tree/{revision}"), get_tree},
    {"GET", STACKGATE_HUB_API("/{owner}/{name}/tree/{revision}/{path...}"), get_tree},
    {"POST", STACKGATE_HUB_API("/{owner}/{name}/paths-info/{revision}"), post_paths_info},
    {"GET", STACKGATE_HUB_API("/{owner}/{name}/commits/{revision}"), get_commits},
    {"GET", STACKGATE_HUB_API("/{owner}/{name}/commits/{revision}/{path...}"), get_commits},
    {"GET", STACKGATE_HUB_API("/{owner}/{name}/refs"), get_refs},
    {"POST", STACKGATE_HUB_API("/{owner}/{name}/branch/{branch}"), post_branch},
    {"DELETE", STACKGATE_HUB_API("/{owner}/{name}/branch/{branch}"), delete_branch},
    {"POST", STACKGATE_HUB_API("/{owner}/{name}/tag/{revision}"), post_tag},
    {"DELETE", STACKGATE_HUB_API("/{owner}/{name}/tag/{revision}"), delete_tag},
    {"POST", STACKGATE_HUB_API("/{owner}/{name}/preupload/{revision}"), post_preupload, large},
    {"POST", STACKGATE_HUB_API("/{owner}/{name}/commit/{revision}"), post_commit, streamed},
    {"GET", STACKGATE_HUB_API("/{owner}/{name}/xet-write-token/{revision}"), refuse_xet},
    {"GET", STACKGATE_HUB_API("/{owner}/{name}/xet-read-token/{revision}"), refuse_xet},
    {"GET", STACKGATE_HUB_FILES("/resolve/{revision}/{path...}"), get_resolve, file},
    {"GET", STACKGATE_HUB_FILES("/raw/{revision}/{path...}"), get_raw, file},
    {"GET", STACKGATE_HUB_FILES(""), go_to_page},
    {"GET", STACKGATE_HUB_FILES("/commit/{commit}"), go_to_page},
    {"GET", STACKGATE_HUB_FILES("/tree/{revision}"), go_to_tree},
    {"GET", STACKGATE_HUB_FILES("/tree/{revision}/{path...}"), go_to_tree},
    {"GET", STACKGATE_HUB_FILES("/blob/{revision}/{path...}"), go_to_blob},
};

#undef STACKGATE_HUB_API
#undef STACKGATE_HUB_FILES

}  // namespace

std::vector<web::Route> routes(const Backend& backend) {
  std::vector<web::Route> out;
  for (const TypedRoute& route : typed)
    for (const auto& [type, pattern] :
         {std::pair{RepositoryType::model, route.model}, std::pair{RepositoryType::dataset, route.dataset},
          std::pair{RepositoryType::space, route.space}})
      out.push_back({route.method, pattern,
                     [&backend, type, handle = route.handle](web::Call& call) { return handle(backend, call, type); },
                     route.options});
  const auto add = [&](std::string_view method, std::string_view pattern, Handle* handle, const web::RouteOptions& o) {
    out.push_back({method, pattern, [&backend, handle](web::Call& call) { return handle(backend, call); }, o});
  };
  add("GET", "/v1/hf/api/whoami-v2", get_whoami, small);
  add("POST", "/v1/hf/api/repos/create", create_repository, large);
  add("DELETE", "/v1/hf/api/repos/delete", delete_repository, small);
  add("POST", "/v1/hf/api/repos/move", move_repository, small);
  add("POST", "/v1/hf/api/validate-yaml", post_validate_yaml, large);
  add("POST", "/v1/hf/{owner}/{name}.git/info/lfs/objects/batch", post_batch, git_lfs);
  add("POST", "/v1/hf/datasets/{owner}/{name}.git/info/lfs/objects/batch", post_batch, git_lfs);
  add("POST", "/v1/hf/spaces/{owner}/{name}.git/info/lfs/objects/batch", post_batch, git_lfs);
  return out;
}

}  // namespace stackgate::datastore::hub
