// What an evaluation of rows asks and measures, made ready: templates and patterns read once. Pure and thread-safe.
#pragma once
#include <optional>
#include <string>
#include <vector>

#include "services/evaluator/api/evaluation_request.hpp"
#include "services/evaluator/metrics/number_pattern.hpp"
#include "services/evaluator/suite/rows/row_template.hpp"
#include "services/evaluator/suite/rows/similarity.hpp"

namespace stackgate::evaluator {

struct PlannedCheck {
  std::string name{};
  StringCheck operation{};
  RowTemplate reference;
};
struct PlannedJudgement {
  std::string name{};
  NumberPattern pattern;
  double least = 0, most = 10;
};

struct RowPlan {
  EvaluationRequest request{};                      // for the settings of its questions
  std::optional<RowTemplate> prompt{}, response{};  // one of them
  std::optional<RowTemplate> reference{}, judge_prompt{};
  std::optional<Similarities> similarities{};  // where there is a reference
  std::vector<PlannedCheck> checks{};
  std::vector<PlannedJudgement> judgements{};
};

/// Every fault of a template, pattern, metric or check is a finding at "params.…"; then there is no plan.
std::optional<RowPlan> make_row_plan(const EvaluationRequest& request, validate::Findings& findings);

}  // namespace stackgate::evaluator
