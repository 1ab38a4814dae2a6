// What is looked at before an evaluation is stored, beside its body: its data set, the workflow server's rights.
// Bounded in time; no endpoint of a model is asked, because it may come later.
#pragma once
#include <expected>

#include "services/evaluator/api/evaluation_request.hpp"
#include "services/evaluator/front/front.hpp"

namespace stackgate::evaluator {

/// Pins the data set's revision in `request`. The failure is 422 with every fault, or 503: the datastore does not
/// answer.
std::expected<void, web::Failure> validate_evaluation(const Front& front, EvaluationRequest& request,
                                                      validate::Findings& warnings);

}  // namespace stackgate::evaluator
