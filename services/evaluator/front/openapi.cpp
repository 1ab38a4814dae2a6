#include "services/kit/web/openapi.hpp"

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

}  // namespace openapi_detail

const std::string& openapi_document() {
  static const std::string text =
      web::openapi_document("stackgate-evaluator", web::to_operations(route_table()), openapi_detail::schemas);
  return text;
}

}  // namespace stackgate::evaluator
