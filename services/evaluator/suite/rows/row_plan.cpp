#include "services/evaluator/suite/rows/row_plan.hpp"

#include <fmt/format.h>

namespace stackgate::evaluator {
namespace {

class Planner {
 public:
  Planner(const EvaluationRequest& request, validate::Findings& findings) : rows_(request.rows), findings_(findings) {
    plan_.request = request;
    plan_.request.rows = {};
  }

  std::optional<RowPlan> plan() {
    const std::size_t before = findings_.size();
    plan_.prompt = parse("prompt", rows_.prompt);
    plan_.response = parse("response", rows_.response);
    plan_.reference = parse("reference", rows_.reference);
    plan_.judge_prompt = parse("judge_prompt", rows_.judge_prompt);
    if (rows_.prompt.empty() && rows_.response.empty())
      wrong("params", R"(has neither "prompt" nor "response")",
            R"(write "prompt" to ask the model, or "response" for answers that the data set has)");
    if (!rows_.reference.empty()) similarities();
    checks();
    judgements();
    if (rows_.reference.empty() && rows_.checks.empty() && rows_.judge_prompt.empty())
      wrong("params", "says nothing that an answer is held against",
            R"(write "reference", "checks" or "judge_prompt")");
    if (findings_.size() != before) return std::nullopt;
    return std::move(plan_);
  }

 private:
  void wrong(std::string path, std::string problem, std::string fix) {
    findings_.push_back(
        {.rule = "evaluation-value", .path = std::move(path), .problem = std::move(problem), .fix = std::move(fix)});
  }
  std::optional<RowTemplate> parse(std::string_view name, const std::string& source) {
    if (source.empty()) return std::nullopt;
    return RowTemplate::parse(fmt::format("params.{}", name), source, findings_);
  }
  void similarities() {
    std::vector<Similarity> wanted;
    for (std::size_t i = 0; i < rows_.metrics.size(); ++i) {
      if (const auto metric = similarity_named(rows_.metrics[i]))
        wanted.push_back(*metric);
      else
        wrong(fmt::format("params.metrics[{}]", i), fmt::format("there is no metric \"{}\"", rows_.metrics[i]),
              fmt::format("choose from {}", fmt::join(similarity_names, ", ")));
    }
    if (rows_.metrics.empty())
      for (std::size_t i = 0; i < similarity_names.size(); ++i) wanted.push_back(static_cast<Similarity>(i));
    plan_.similarities.emplace(std::move(wanted));
  }
  void checks() {
    for (const RowCheck& each : rows_.checks) {
      const std::string path = fmt::format("params.checks.{}", each.name);
      const auto operation = string_check_named(each.operation);
      if (!operation)
        wrong(path + ".operation", fmt::format("there is no operation \"{}\"", each.operation),
              "choose equals, not_equals, contains, not_contains, starts_with or ends_with");
      auto reference = RowTemplate::parse(path + ".reference", each.reference, findings_);
      if (operation && reference) plan_.checks.push_back({each.name, *operation, std::move(*reference)});
    }
  }
  void judgements() {
    for (const JudgeScore& each : rows_.scores) {
      const std::string path = fmt::format("params.scores.{}.pattern", each.name);
      auto pattern = NumberPattern::compile(each.pattern);
      if (pattern)
        plan_.judgements.push_back({each.name, std::move(*pattern), each.least, each.most});
      else
        wrong(path, pattern.error(), R"(write a pattern with a group, such as "\\[\\[(\\d+)\\]\\]")");
    }
    if (!rows_.judge_prompt.empty() && rows_.scores.empty())
      wrong("params.scores", "is missing",
            R"(write how a score is read: {"rating": {"pattern": "\\[\\[(\\d+)\\]\\]"}})");
  }

  const RowTemplates& rows_;
  validate::Findings& findings_;
  RowPlan plan_{};
};

}  // namespace

std::optional<RowPlan> make_row_plan(const EvaluationRequest& request, validate::Findings& findings) {
  return Planner(request, findings).plan();
}

}  // namespace stackgate::evaluator
