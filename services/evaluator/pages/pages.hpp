// The web pages of the evaluator: /, /evaluations/{name}, its samples, /comparisons. HTML made here, usable without a
// script. They only read.
#pragma once
#include <expected>
#include <functional>
#include <string_view>
#include <vector>

#include "services/evaluator/compare/compare.hpp"
#include "services/evaluator/records/records.hpp"
#include "services/kit/web/route.hpp"

namespace stackgate::evaluator {

struct PageSource {
  const Records& records;  // must outlive the routes
  /// The look-ups of POST /v1/comparisons, and compare(): the same rules as there. 422 with findings for what cannot be
  /// compared unless it is forced.
  std::function<std::expected<Comparison, web::Failure>(const ComparisonRequest&)> compare{};
};

/// With the routes of their files.
std::vector<web::Route> page_routes(PageSource source);

/// Files of assets/, put into the program by CMake.
extern const std::string_view embedded_style, embedded_icon;

}  // namespace stackgate::evaluator
