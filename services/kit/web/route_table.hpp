// Routes over a service's state as rows: what is served, and what /openapi.json says of it, are the same.
#pragma once
#include <memory>
#include <span>
#include <string_view>
#include <vector>

#include "services/kit/web/openapi.hpp"
#include "services/kit/web/route.hpp"

namespace stackgate::web {

template <class State>
struct RouteRow {
  std::string_view method, pattern, summary;
  Answer (*handle)(const State&, Call&);
  std::string_view body = {};  // the name of a schema in the document; "": none
  std::string_view success = "200";
  std::string_view type = "application/json";
  std::string_view query = {};    // names, with commas between them
  bool transfer = false;          // its answer may be long
  std::string_view headers = {};  // that it reads, with commas between them; not those of OpenAPI's own: Accept, …
};

template <class State>
std::vector<Route> to_routes(std::span<const RouteRow<State>> rows, const std::shared_ptr<const State>& state,
                             const RouteOptions& options) {
  std::vector<Route> out;
  for (const RouteRow<State>& each : rows) {
    RouteOptions own = options;
    own.transfer = each.transfer;
    out.push_back(
        {each.method, each.pattern, [state, handle = each.handle](Call& call) { return handle(*state, call); }, own});
  }
  return out;
}

template <class State>
std::vector<Operation> to_operations(std::span<const RouteRow<State>> rows) {
  std::vector<Operation> out;
  for (const RouteRow<State>& each : rows)
    out.push_back({.method = each.method,
                   .pattern = each.pattern,
                   .summary = each.summary,
                   .body = each.body,
                   .success = each.success,
                   .type = each.type,
                   .query = each.query,
                   .headers = each.headers});
  return out;
}

}  // namespace stackgate::web
