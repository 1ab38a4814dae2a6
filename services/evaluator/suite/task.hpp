// What an evaluation asks and how answers become scores, whatever the framework: one Task for each task, made of values
// that are there before the first question. Pure; a const Task may be used from any number of threads.
#pragma once
#include <cstddef>
#include <cstdint>
#include <limits>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "services/evaluator/endpoint/protocol/answer.hpp"
#include "services/evaluator/endpoint/protocol/question.hpp"

namespace stackgate::evaluator {

inline constexpr double no_value = std::numeric_limits<double>::quiet_NaN();

/// Who is asked. What is no model answers questions, too, so that its answers are kept like theirs: an embedder answers
/// `messages` with a JSON array of numbers, the cosine of the first one and each of the others; a retriever answers
/// `prompt` with {"<document>": <score>, …} in the order of their rank; a runner runs the program in `prompt` and
/// answers
/// {"passed": true or false, "reason"}.
enum class Whom : std::uint8_t { model, judge, embedder, retriever, runner };
inline constexpr std::size_t whom_count = 5;

struct Asked {
  Whom whom = Whom::model;
  Question question{};
};

/// Of one question: an answer, or why there is none.
struct Reply {
  std::optional<Answer> answer{};
  std::string fault{};
};

/// What one sample adds: a number for each of Task::columns(), no_value where there is none. What is shown of it is a
/// JSON object.
struct Scored {
  std::vector<double> values{};
  std::string record{};
  std::string fault{};  // why it has no scores; "": it has
};

/// Of the samples' numbers whose mean a score is; no_value: not known.
struct Spread {
  double sum = no_value, mean = no_value, least = no_value, most = no_value, deviation = no_value;
};

/// One number of a result.
struct Score {
  std::string metric{}, name{};  // "rouge", "rouge_L_score"
  double value = no_value;
  double error = no_value;  // the standard error; no_value: not known
  std::uint64_t count = 0, nan_count = 0;
  bool higher_is_better = true;
  std::string error_name{};  // where the error is shown as a score, too: "exact_match_stderr"
  Spread spread{};           // of a mean
};

/// What a group makes of its tasks' scores: their mean, by the number of samples or not.
struct GroupMetric {
  std::string metric{};
  std::vector<std::string> filters{};  // of scores named "<metric>,<filter>"; empty: all
  bool weight_by_size = true;
};
struct TaskGroup {
  std::string name{}, alias{}, version{};
  std::vector<GroupMetric> metrics{};
};

struct TaskResult {
  std::string name{}, version{};
  std::uint32_t num_fewshot = 0;
  std::uint64_t samples = 0, failed = 0;
  std::vector<Score> scores{};
  std::vector<TaskGroup> groups{};  // that it counts in
};

class Task {
 public:
  virtual ~Task() = default;
  virtual const std::string& name() const = 0;
  virtual std::size_t samples() const = 0;
  /// Whether an endpoint must give log-probabilities of given texts.
  virtual bool wants_likelihoods() const { return false; }
  /// What is to be asked next of this sample, after the replies to all questions so far; empty: nothing more. The same
  /// replies give the same questions.
  virtual std::vector<Asked> next(std::size_t sample, std::span<const Reply> replies) const = 0;
  virtual Scored score(std::size_t sample, std::span<const Reply> replies) const = 0;
  /// Of those that have scores, in any order; `failed` have none.
  virtual TaskResult result(std::span<const std::vector<double>> values, std::uint64_t failed) const = 0;
};

}  // namespace stackgate::evaluator
