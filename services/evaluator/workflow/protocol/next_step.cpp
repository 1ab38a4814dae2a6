#include "services/evaluator/workflow/protocol/next_step.hpp"

#include <fmt/format.h>

namespace stackgate::evaluator {

NextStep next_step(const WorkflowSituation& now) {
  using Kind = NextStep::Kind;
  if (!now.workflow) {
    if (now.stop_wanted || now.stop_sent) return {Kind::stopped};
    if (now.has_results) return {Kind::done};
    if (now.was_there) return {Kind::fail, "the workflow was deleted on the server before its results were read"};
    return {Kind::submit};
  }
  const WorkflowFacts& workflow = *now.workflow;
  if (workflow.evaluation != now.name)
    return {Kind::fail, fmt::format("the server has a workflow \"{}\" that is not this evaluation's; delete it, or use "
                                    "another namespace",
                                    now.name)};
  const bool ended = is_final(workflow.phase);
  if (now.stop_wanted || now.stop_sent) {
    if (ended) return {Kind::stopped};
    if (!now.stop_sent) return {Kind::stop};
    return {now.stop_is_late && !now.terminate_sent ? Kind::terminate : Kind::follow};
  }
  if (!ended) return {Kind::follow};
  const std::string message = workflow.message.empty() ? std::string() : fmt::format(": {}", workflow.message);
  if (workflow.phase == WorkflowPhase::error && now.retries_left > 0) return {Kind::retry};
  if (workflow.phase != WorkflowPhase::succeeded)
    return {Kind::fail, fmt::format("the workflow ended as {}{}", to_string(workflow.phase), message)};
  if (now.has_results) return {Kind::done};
  if (!now.results_were_sought) return {Kind::take_results};
  return {Kind::fail,
          "the workflow succeeded, but its results are neither in its log nor among its outputs: its image "
          "printed no \"stackgate-results\" lines, or its pods were removed too early"};
}

}  // namespace stackgate::evaluator
