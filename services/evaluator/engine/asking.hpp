// All samples of a task asked side by side.
#pragma once
#include <array>
#include <chrono>
#include <cstddef>
#include <expected>
#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "services/evaluator/endpoint/endpoint.hpp"
#include "services/evaluator/suite/task.hpp"

namespace stackgate::evaluator {

/// Who answers, and under which name: answers of another one are not taken for its.
struct Answerer {
  std::string name{};
  std::function<std::expected<Answer, NoAnswer>(const Question&)> ask{};  // from any number of threads; empty: nobody
};
using Answerers = std::array<Answerer, whom_count>;  // by Whom
Answerer answerer(const Endpoint& endpoint);         // which must outlive it

/// The calls of so many of a task's samples are spans of its trace: those of 100,000 would push all else out.
inline constexpr std::size_t traced_samples = 100;

struct AskingOptions {
  unsigned parallelism = 8;
  /// How long an endpoint that is away is waited for before a sample goes without its answer.
  std::chrono::milliseconds patience{300'000};
  std::chrono::milliseconds pause{2'000};  // between two tries of one that is away
};

/// What happens meanwhile. `stored` is called on any of the asking threads; the others on the caller's.
struct Progress {
  /// The answer to a question that was put before: its text as stored_answer() wrote it.
  std::function<std::optional<std::string>(const std::string& digest)> known{};
  /// Answers since the last call, with their questions' digests: to be kept for `known`.
  std::function<void(std::vector<std::pair<std::string, std::string>> answers)> answers{};
  /// Samples that are done, in any order.
  std::function<void(std::vector<std::pair<std::size_t, Scored>> samples)> samples{};
  /// Asked a few times a second; true ends it, with what is under way.
  std::function<bool()> stop{};
};

/// Returns when all samples are done, or false: it was stopped. A question for nobody has no answer.
bool ask_all(const Task& task, const Answerers& answerers, const AskingOptions& options, const Progress& progress);

/// What is the same for two questions exactly when their answers may be shared: task, sample, place among the sample's
/// questions, model and question.
std::string digest_of(std::string_view task, std::size_t sample, std::size_t place, std::string_view model,
                      const Question& question);
std::string stored_answer(const Answer& answer);
/// Nothing: it is none.
std::optional<Answer> read_stored_answer(std::string_view text);

}  // namespace stackgate::evaluator
