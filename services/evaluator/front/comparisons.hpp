// POST /v1/comparisons: evaluations looked up, with the records of their samples, and compared.
#pragma once
#include <expected>

#include "services/evaluator/compare/compare.hpp"
#include "services/evaluator/records/records.hpp"
#include "services/kit/web/answer.hpp"

namespace stackgate::evaluator {

/// The failure: 422 for names that nobody has and for what cannot be compared, 409 for one that is not completed.
std::expected<Comparison, web::Failure> compare_stored(const Records& records, const ComparisonRequest& request);

}  // namespace stackgate::evaluator
