// Results as a zip: results.json, log.txt and <task>.jsonl, a line for each sample.
#pragma once
#include <string>
#include <vector>

#include "services/evaluator/records/records.hpp"
#include "services/kit/web/answer.hpp"
#include "services/kit/web/call.hpp"

namespace stackgate::evaluator {

/// Of its results so far, in their order; else those that were asked for. Pure.
std::vector<std::string> tasks_of(const Evaluation& evaluation);

/// Sent while it is made: some hundred samples are held at a time.
web::Answer send_results_zip(const Records& records, const Evaluation& evaluation, web::Call& call);

}  // namespace stackgate::evaluator
