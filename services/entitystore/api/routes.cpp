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
  of_kind("GET", "/v1/namespaces", list_entities, "namespace");
  of_kind("POST", "/v1/namespaces", create_entity, "namespace");
  of_kind("GET", "/v1/namespaces/{name}", get_entity, "namespace");
  of_kind("PATCH", "/v1/namespaces/{name}", patch_entity, "namespace");
  of_kind("DELETE", "/v1/namespaces/{name}", delete_entity, "namespace");
  of_kind("GET", "/v1/projects", list_entities, "project");
  of_kind("POST", "/v1/projects", create_entity, "project");
  of_kind("GET", "/v1/projects/{namespace}/{name}", get_entity, "project");
  of_kind("PATCH", "/v1/projects/{namespace}/{name}", patch_entity, "project");
  of_kind("DELETE", "/v1/projects/{namespace}/{name}", delete_entity, "project");
  of_kind("GET", "/v1/datasets", list_entities, "dataset");
  of_kind("POST", "/v1/datasets", create_entity, "dataset");
  of_kind("GET", "/v1/datasets/{namespace}/{name}", get_entity, "dataset");
  of_kind("PATCH", "/v1/datasets/{namespace}/{name}", patch_entity, "dataset");
  of_kind("DELETE", "/v1/datasets/{namespace}/{name}", delete_entity, "dataset");
  return all;
}

}  // namespace stackgate::entitystore
