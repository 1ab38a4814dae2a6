// One row of a task, ready to be asked. Pure and thread-safe.
#pragma once
#include <cstdint>
#include <expected>
#include <optional>
#include <string>
#include <vector>

#include "services/evaluator/api/evaluation_request.hpp"
#include "services/evaluator/suite/harness/examples.hpp"
#include "services/evaluator/suite/harness/prompts.hpp"
#include "services/evaluator/suite/task.hpp"

namespace stackgate::evaluator::harness {

/// What a task is made of; all of it is there before the first question.
struct TaskParts {
  TaskConfig config{};
  std::vector<TaskGroup> groups{};
  DocTemplates templates{}, example_templates{};
  RowTemplate description{}, gen_prefix{};
  SplitPtr rows{};
  std::uint32_t samples = 0;  // of the rows, the first
  Examples examples{};
  RequestSettings requests{};
  std::uint64_t seed = 0;
  std::optional<std::uint32_t> bootstrap_rounds{};
};

/// A text whose likelihood is asked for, behind another.
struct Pair {
  std::string context{}, continuation{};
};

struct Sample {
  Doc doc{};
  Prompt prompt{};
  std::vector<Pair> pairs{};              // of likelihoods
  std::vector<std::size_t> gold{};        // multiple_choice: the right ones
  std::vector<std::string> references{};  // generate_until: texts that are right
};

/// The error says what is wrong with the row. Its prompt has the examples, too, unless they are not wanted.
std::expected<Sample, std::string> sample_of(const TaskParts& parts, std::size_t sample, bool with_examples = true);

/// "": it can be asked and scored; else what is wrong with its row.
std::string fault_of(const TaskParts& parts, std::size_t sample);
/// The same of a row of the examples.
std::string fault_of_example(const TaskParts& parts, std::uint32_t row);

}  // namespace stackgate::evaluator::harness
