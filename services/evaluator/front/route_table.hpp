// The routes as a table: what is served, and what /openapi.json says of it, are the same rows.
#pragma once
#include <span>
#include <string>
#include <string_view>

#include "services/evaluator/front/front.hpp"
#include "services/kit/web/route_table.hpp"

namespace stackgate::evaluator {

using RouteRow = web::RouteRow<Front>;

std::span<const RouteRow> route_table();

/// OpenAPI 3.1 of the table.
const std::string& openapi_document();

}  // namespace stackgate::evaluator
