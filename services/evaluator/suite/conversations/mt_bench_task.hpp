// MT-Bench: questions of several turns, of which a judge rates each answer, or compares it with a baseline's. Pure and
// thread-safe.
// Source: Zheng et al. (2023); https://github.com/lm-sys/FastChat/tree/main/fastchat/llm_judge
#pragma once
#include <map>
#include <string>
#include <vector>

#include "services/evaluator/api/evaluation_request.hpp"
#include "services/evaluator/suite/conversations/mt_bench_row.hpp"
#include "services/evaluator/suite/task.hpp"
#include "services/evaluator/suite/task_rows.hpp"

namespace stackgate::evaluator {

/// Asked: the turns, one behind the other in one conversation; then the judge about each turn. In pairs the judge is
/// asked twice about each, with positions swapped; verdicts that differ are a tie.
class MtBenchTask final : public Task {
 public:
  /// The rows were read before: all are sound.
  MtBenchTask(std::string name, EvaluationRequest request, TaskRows rows);

  const std::string& name() const override { return name_; }
  std::size_t samples() const override { return rows_.rows.size(); }
  std::vector<Asked> next(std::size_t sample, std::span<const Reply> replies) const override;
  Scored score(std::size_t sample, std::span<const Reply> replies) const override;
  /// Ratings: "mt-bench": overall, turn_1, turn_2, each category. Pairs: "pairwise": win_rate, loss_rate, tie_rate,
  /// win_rate_adjusted (a tie is half a win), and that by turn and category. A rating that failed has no value and is
  /// counted.
  TaskResult result(std::span<const std::vector<double>> values, std::uint64_t failed) const override;

 private:
  bool in_pairs() const { return !request_.mt_bench.baseline.empty(); }
  std::vector<Asked> judges(const MtBenchRow& row, std::span<const std::string> answers) const;

  std::string name_;
  EvaluationRequest request_;
  TaskRows rows_;
  std::vector<std::string> categories_{};  // of the rows, sorted
};

}  // namespace stackgate::evaluator
