// Trajectories of agents scored: by their calls, or by a judge. Pure and thread-safe.
// Source: ragas' definitions, https://docs.ragas.io/en/v0.3.5/concepts/metrics/available_metrics/agents/; the judge's
// questions are our own, one matter each.
#pragma once
#include <array>
#include <cstdint>
#include <expected>
#include <memory>
#include <optional>
#include <string>
#include <string_view>

#include "services/evaluator/api/evaluation_request.hpp"
#include "services/evaluator/suite/task.hpp"
#include "services/evaluator/suite/task_rows.hpp"
#include "services/kit/json/value.hpp"

namespace stackgate::evaluator {

enum class AgentMetric : std::uint8_t {
  goal_accuracy,       // did it reach what `reference` says, or what the user wanted where there is none
  tool_call_accuracy,  // against `reference_tool_calls`
  topic_adherence,     // did it answer about `reference_topics`, and refuse the rest
};
inline constexpr std::array<std::string_view, 3> agent_metric_names = {"agent_goal_accuracy", "tool_call_accuracy",
                                                                       "topic_adherence"};
std::optional<AgentMetric> agent_metric_named(std::string_view name);
/// Whether a row has what the metric needs; the error says what it lacks.
std::expected<void, std::string> fits_agent_metric(AgentMetric metric, const json::Value& row);

class AgentTask final : public Task {
 public:
  /// All rows fit.
  AgentTask(std::string name, AgentMetric metric, EvaluationRequest request, std::shared_ptr<const TaskRows> rows)
      : name_(std::move(name)), metric_(metric), request_(std::move(request)), rows_(std::move(rows)) {}

  const std::string& name() const override { return name_; }
  std::size_t samples() const override { return rows_->rows.size(); }
  std::vector<Asked> next(std::size_t sample, std::span<const Reply> replies) const override;
  Scored score(std::size_t sample, std::span<const Reply> replies) const override;
  TaskResult result(std::span<const std::vector<double>> values, std::uint64_t failed) const override;

 private:
  std::string name_;
  AgentMetric metric_;
  EvaluationRequest request_;
  std::shared_ptr<const TaskRows> rows_;
};

}  // namespace stackgate::evaluator
