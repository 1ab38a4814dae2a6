// The routes as a table: what is served, and what /openapi.json says of it, are the same rows.
#pragma once
#include <array>
#include <span>
#include <string>
#include <string_view>

#include "services/evaluator/front/front.hpp"

namespace stackgate::evaluator {

struct RouteRow {
  std::string_view method, pattern, summary;
  web::Answer (*handle)(const Front&, web::Call&);
  std::string_view body = {};  // the schema's name in openapi.cpp; "": none
  std::string_view success = "200";
  std::string_view type = "application/json";
  std::string_view query = {};  // names, with commas between them
  bool transfer = false;        // its answer may be long
};

std::span<const RouteRow> route_table();

/// OpenAPI 3.1 of the table.
const std::string& openapi_document();

}  // namespace stackgate::evaluator
