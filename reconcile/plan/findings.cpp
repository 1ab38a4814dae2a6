#include "reconcile/plan/findings.hpp"

#include <algorithm>
#include <array>

#include <fmt/format.h>

#include "validators/rulebook.hpp"

namespace stackgate::reconcile {
namespace plan_findings {

using validate::Finding;
using validate::Severity;

constexpr std::size_t most_listed = 10;

struct ReasonOf {
  std::string_view part;  // of a rule's id
  std::string_view reason;
};
// The first match counts; the reasons are those of pods and caches where they have one.
constexpr std::array reasons{
    ReasonOf{"secret-key-missing", "SecretKeyNotFound"},
    ReasonOf{"secret-missing", "SecretNotFound"},
    ReasonOf{"config-map-key-missing", "ConfigMapKeyNotFound"},
    ReasonOf{"config-map-missing", "ConfigMapNotFound"},
    ReasonOf{"claim-missing", "ClaimNotFound"},
    ReasonOf{"cache-missing", "CacheNotFound"},
    ReasonOf{"cache-failed", "CacheFailed"},
    ReasonOf{"service-account-missing", "ServiceAccountNotFound"},
    ReasonOf{"storage-class-missing", "StorageClassNotFound"},
    ReasonOf{"priority-class-missing", "PriorityClassNotFound"},
    ReasonOf{"runtime-class-missing", "RuntimeClassNotFound"},
};

std::string_view reason_of(std::string_view rule) {
  for (const ReasonOf& each : reasons)
    if (rule.ends_with(each.part)) return each.reason;
  return "ReferenceUnfit";
}

template <class IsListed>
std::string list(std::span<const Finding> findings, const IsListed& is_reported) {
  std::string out;
  std::size_t listed = 0, more = 0;
  for (const Finding& finding : findings) {
    if (!is_reported(finding)) continue;
    if (listed == most_listed) {
      ++more;
      continue;
    }
    if (listed++ > 0) out += '\n';
    if (!finding.path.empty()) out += finding.path + ": ";
    out += validate::to_line(finding);
  }
  if (more > 0) out += fmt::format("\nand {} more", more);
  return out;
}

bool is_fault(const Finding& finding) {
  return finding.severity == Severity::error && !validate::is_about_others(finding.rule);
}

bool concerns(const Finding& finding, const InputFacts& input) {
  return std::ranges::find(input.fields, finding.path) != input.fields.end();
}

bool concerns_any(const Finding& finding, std::span<const InputFacts> inputs) {
  return std::ranges::any_of(inputs, [&](const InputFacts& input) { return concerns(finding, input); });
}

/// What could not be asked is no news here: as soon as it is known it is looked at again.
bool is_about_known_others(const Finding& finding) {
  return validate::is_about_others(finding.rule) && finding.rule != "reference-unchecked";
}

Problem problem_of(const Finding& finding, const InputFacts& input) {
  const std::string_view kind = info(input.type).kind;
  const bool key = finding.rule.ends_with("key-missing");
  return {.reason = std::string(reason_of(finding.rule)),
          .message = key ? fmt::format("the {} {} lacks a key that is read from it; add it", kind, input.name)
                         : fmt::format("there is no {} {}; create it in the same namespace", kind, input.name)};
}

}  // namespace plan_findings

std::string faults_in_words(std::span<const validate::Finding> findings) {
  return plan_findings::list(findings, plan_findings::is_fault);
}

std::optional<Condition> unresolved_references(const Observed& observed) {
  using namespace plan_findings;
  const auto is_reported = [&](const Finding& finding) {
    return is_about_known_others(finding) &&
           (finding.severity == Severity::error || concerns_any(finding, observed.inputs));
  };
  const auto first = std::ranges::find_if(observed.findings, is_reported);
  if (first == observed.findings.end()) return std::nullopt;
  return Condition{std::string(references_condition), "False", std::string(reason_of(first->rule)),
                   list(observed.findings, is_reported)};
}

std::vector<Problem> input_problems(const Observed& observed) {
  using namespace plan_findings;
  std::vector<Problem> out;
  for (const Finding& finding : observed.findings) {
    if (!is_about_known_others(finding)) continue;
    for (const InputFacts& input : observed.inputs)
      if (concerns(finding, input)) out.push_back(problem_of(finding, input));
  }
  return out;
}

bool lacks_inputs(const Observed& observed) {
  return std::ranges::any_of(observed.inputs,
                             [](const InputFacts& input) { return input.needed && input.content_hash.empty(); }) ||
         std::ranges::any_of(observed.findings, [&](const validate::Finding& finding) {
           return plan_findings::is_about_known_others(finding) &&
                  plan_findings::concerns_any(finding, observed.inputs);
         });
}

}  // namespace stackgate::reconcile
