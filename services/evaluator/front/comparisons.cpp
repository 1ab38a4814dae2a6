#include "services/evaluator/front/comparisons.hpp"

#include <algorithm>

#include <fmt/format.h>

#include "services/evaluator/front/front.hpp"
#include "services/evaluator/front/results_zip.hpp"
#include "services/kit/base/try.hpp"
#include "services/kit/web/body_schema.hpp"
#include "services/kit/web/json.hpp"

namespace stackgate::evaluator {
namespace comparisons_detail {

constexpr std::int64_t rows_at_once = 500;

/// Numbers alone are held: 8 bytes for each score of a sample.
std::expected<SampleScores, ServiceError> samples_of(const Records& records, const std::string& id,
                                                     const std::string& task) {
  SampleScores out;
  for (std::int64_t after = -1;;) {
    const auto samples = TRY(records.samples(id, task, after, rows_at_once));
    for (const Sample& each : samples) out.add(each.number, each.record);
    if (static_cast<std::int64_t>(samples.size()) < rows_at_once) return out;
    after = samples.back().number;
  }
}

}  // namespace comparisons_detail

std::expected<Comparison, web::Failure> compare_stored(const Records& records, const ComparisonRequest& request) {
  std::vector<Evaluation> found;
  validate::Findings unknown;
  std::string open;
  for (std::size_t i = 0; i < request.evaluations.size(); ++i) {
    const std::string& name = request.evaluations[i];
    auto evaluation = records.find(name);
    if (!evaluation) return std::unexpected(web::to_failure(evaluation.error()));
    if (!*evaluation) {
      unknown.push_back({.rule = "comparison-unknown",
                         .path = fmt::format("evaluations[{}]", i),
                         .problem = fmt::format("there is no evaluation \"{}\"", name),
                         .fix = "GET /v1/evaluations lists them"});
    } else {
      if ((*evaluation)->state != State::completed)
        open += fmt::format("{}\"{}\" is {}", open.empty() ? "" : ", ", name, to_string((*evaluation)->state));
      found.push_back(std::move(**evaluation));
    }
  }
  if (!unknown.empty()) return std::unexpected(web::unprocessable(std::move(unknown)));
  if (!open.empty())
    return std::unexpected(
        web::Failure{.status = 409, .message = fmt::format("only completed evaluations are compared: {}", open)});
  std::vector<Compared> compared;
  for (const Evaluation& each : found) {
    Compared one{.name = each.name, .request = each.request, .results = each.results};
    for (const std::string& task : tasks_of(each)) {
      auto samples = comparisons_detail::samples_of(records, each.id, task);
      if (!samples) return std::unexpected(web::to_failure(samples.error()));
      one.samples.emplace(task, std::move(*samples));
    }
    compared.push_back(std::move(one));
  }
  auto comparison = compare(request, compared);
  if (!comparison) return std::unexpected(web::unprocessable(std::move(comparison.error())));
  return std::move(*comparison);
}

web::Answer create_comparison(const Front& front, web::Call& call) {
  const json::Document* body = TRY(call.json());
  const auto request = read_comparison(body->root);
  if (!request) return web::unprocessable(request.error());
  return web::json_answer(to_json(TRY(compare_stored(front.records(), *request))));
}

}  // namespace stackgate::evaluator
