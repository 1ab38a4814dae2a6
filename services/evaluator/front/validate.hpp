// What is looked at before an evaluation is stored, beside its body: its data set, the workflow server's rights.
// Bounded in time; no endpoint of a model is asked, because it may come later.
#pragma once
#include <expected>
#include <string>

#include "services/evaluator/api/evaluation_request.hpp"
#include "services/evaluator/front/front.hpp"

namespace stackgate::evaluator {

/// Pins the data set's revision in `request`. The failure is 422 with every fault, or 503: the datastore does not
/// answer.
std::expected<void, web::Failure> validate_evaluation(const Front& front, EvaluationRequest& request,
                                                      validate::Findings& warnings);

/// The adapter of the entitystore that the model is: a JSON object, or "". Warns of one that is not ready, and where
/// the entitystore cannot be asked.
std::string adapter_of(const Front& front, const EvaluationRequest& request, validate::Findings& warnings);

}  // namespace stackgate::evaluator
