#include "services/entitystore/api/api.hpp"
#include "services/entitystore/api/handlers.hpp"

namespace stackgate::entitystore {
namespace routes_detail {

using Plain = web::Answer (*)(const Api&, web::Call&);
using OfKind = web::Answer (*)(const Api&, web::Call&, std::string_view);

constexpr web::RouteOptions waits{.dialect = web::Dialect::nemo};
constexpr web::RouteOptions file{.dialect = web::Dialect::nemo, .transfer = true};
/// From memory: a poller's answer costs no thread.
constexpr web::RouteOptions at_once{.dialect = web::Dialect::nemo, .on_io_thread = true};

struct Kind {
  std::string_view name, all, one;
};
constexpr Kind kinds[] = {{"namespace", "/v1/namespaces", "/v1/namespaces/{name}"},
                          {"project", "/v1/projects", "/v1/projects/{namespace}/{name}"},
                          {"dataset", "/v1/datasets", "/v1/datasets/{namespace}/{name}"}};

}  // namespace routes_detail

std::vector<web::Route> routes(const Api& api) {
  namespace d = routes_detail;
  std::vector<web::Route> all;
  const auto add = [&](std::string_view method, std::string_view pattern, d::Plain handler,
                       const web::RouteOptions& options) {
    all.push_back({method, pattern, [&api, handler](web::Call& call) { return handler(api, call); }, options});
  };
  const auto of_kind = [&](std::string_view method, std::string_view pattern, d::OfKind handler,
                           std::string_view kind) {
    all.push_back(
        {method, pattern, [&api, handler, kind](web::Call& call) { return handler(api, call, kind); }, d::waits});
  };
  const web::RouteOptions upload{.dialect = web::Dialect::nemo,
                                 .streams_body = true,
                                 // With room for the metadata and the borders of the parts.
                                 .body_bytes = api.archive_bytes + (std::uint64_t{2} << 20U)};
  add("GET", "/v1/adapters", list_adapters, d::at_once);
  add("POST", "/v1/adapters", upload_adapter, upload);
  add("GET", "/v1/adapters/{id}", get_adapter, d::at_once);
  add("PATCH", "/v1/adapters/{id}", patch_adapter, d::waits);
  add("DELETE", "/v1/adapters/{id}", delete_adapter, d::waits);
  add("GET", "/v1/adapters/{id}/versions", get_versions, d::at_once);
  add("GET", "/v1/adapters/{id}/provenance", get_provenance, d::waits);
  add("GET", "/v1/adapters/{id}/access-log", get_access_log, d::waits);
  add("GET", "/v1/adapters/{id}/archive", get_archive, d::file);
  add("GET", "/v1/models", list_models, d::at_once);
  add("GET", "/v1/models/{namespace}/{name}", get_model, d::at_once);
  for (const auto& [kind, all_of_them, one] : d::kinds) {
    of_kind("GET", all_of_them, list_entities, kind);
    of_kind("POST", all_of_them, create_entity, kind);
    of_kind("GET", one, get_entity, kind);
    of_kind("PATCH", one, patch_entity, kind);
    of_kind("DELETE", one, delete_entity, kind);
  }
  return all;
}

}  // namespace stackgate::entitystore
