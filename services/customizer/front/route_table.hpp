// The routes as a table: what is served, and what /openapi.json says of it, are the same rows.
#pragma once
#include <span>
#include <string>

#include "services/customizer/front/front.hpp"
#include "services/kit/web/route_table.hpp"

namespace stackgate::customizer {

using RouteRow = web::RouteRow<Front>;

std::span<const RouteRow> route_table();

/// OpenAPI 3.1 of the table. The bounds of hyperparameters are those that bodies are held against.
const std::string& openapi_document();

}  // namespace stackgate::customizer
