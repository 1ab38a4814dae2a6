#include "services/kit/web/openapi.hpp"

#include <vector>

#include "services/evaluator/api/evaluation_schema.hpp"
#include "services/evaluator/compare/comparison_request.hpp"
#include "services/evaluator/front/route_table.hpp"

namespace stackgate::evaluator {
namespace openapi_detail {

constexpr web::NamedSchema schemas[] = {
    {"Evaluation", evaluation_schema},
    {"Comparison", comparison_schema},
    {"Job", R"({"description": "target and config as NeMo's evaluator has them, or an Evaluation", "type": "object"})"},
};

std::string document() {
  std::vector<web::Operation> operations;
  for (const RouteRow& each : route_table())
    operations.push_back({.method = each.method,
                          .pattern = each.pattern,
                          .summary = each.summary,
                          .body = each.body,
                          .success = each.success,
                          .type = each.type,
                          .query = each.query});
  return web::openapi_document("stackgate-evaluator", operations, schemas);
}

}  // namespace openapi_detail

const std::string& openapi_document() {
  static const std::string text = openapi_detail::document();
  return text;
}

}  // namespace stackgate::evaluator
