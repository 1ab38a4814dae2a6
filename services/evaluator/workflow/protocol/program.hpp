// The contract with a framework's image, and with its program on this machine: variables in, results.json and lines of
// a log out. Pure. README.md has it in words.
#pragma once
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "services/evaluator/api/evaluation_request.hpp"
#include "services/evaluator/workflow/protocol/options.hpp"
#include "services/kit/findings/finding.hpp"

namespace stackgate::evaluator {

struct FrameworkProgram {
  Framework framework{};
  std::string_view image_field{};     // of a StackEvaluator's spec.evaluationImages
  std::string_view image_variable{};  // STACKGATE_EVALUATION_IMAGE_…
  std::string_view program{};         // looked for in PATH
};
/// The nine, in the order of Framework.
std::span<const FrameworkProgram> framework_programs();
/// nullptr: it has none ("custom").
const FrameworkProgram* program_of(Framework framework);

struct Variable {
  std::string_view name{};       // of the environment: "STACKGATE_MODEL"
  std::string_view parameter{};  // of a workflow: "model"
  std::string value{};
};
/// All that a program gets of a request, but for keys: those that do not apply are empty.
std::vector<Variable> variables_of(const EvaluationRequest& request, std::string_view id);

/// Keys of endpoints: the variable, and the key in the Secret.
struct KeyVariable {
  std::string_view name{}, secret_key{};
};
std::span<const KeyVariable> key_variables();
/// Of WorkflowOptions::datastore_url: the same for all requests, so no parameter.
inline constexpr std::string_view datastore_variable = "STACKGATE_DATASTORE_URL";
inline constexpr std::string_view results_variable = "STACKGATE_RESULTS";

/// For /bin/sh -c: runs the program, then prints its samples_*.jsonl (of each 1,000 rows, of all 4 MB) and its
/// results.json as marked lines (log_capture). STACKGATE_OUTPUT is
/// its directory.
/// "hf://datasets/ada/results/<evaluation>"; empty without such a repository.
std::string results_place(const WorkflowOptions& options, std::string_view evaluation);

std::string script_of(const FrameworkProgram& program);

/// What cannot be passed to these programs: a model's name with a comma for lm_eval, "{{" in a workflow's parameter.
validate::Findings check_variables(const EvaluationRequest& request, bool as_workflow);

}  // namespace stackgate::evaluator
