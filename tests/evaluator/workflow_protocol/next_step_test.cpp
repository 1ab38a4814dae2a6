#include "services/evaluator/workflow/protocol/next_step.hpp"

#include <gmock/gmock.h>

namespace stackgate::evaluator {
namespace {

using Kind = NextStep::Kind;

struct Row {
  std::string_view name;
  WorkflowSituation situation;
  Kind wanted;
  std::string_view why{};
};

std::optional<WorkflowFacts> in(WorkflowPhase phase, std::string message = {}) {
  return WorkflowFacts{.name = "eval-1", .evaluation = "eval-1", .phase = phase, .message = std::move(message)};
}

class Steps : public testing::TestWithParam<Row> {};

TEST_P(Steps, follow_from_the_situation) {
  WorkflowSituation situation = GetParam().situation;
  situation.name = "eval-1";
  const NextStep next = next_step(situation);
  EXPECT_EQ(next.kind, GetParam().wanted);
  EXPECT_THAT(next.why, testing::HasSubstr(std::string(GetParam().why)));
}

INSTANTIATE_TEST_SUITE_P(
    Table, Steps,
    testing::Values(
        Row{"NotThere", {}, Kind::submit}, Row{"NotThereAndStopped", {.stop_wanted = true}, Kind::stopped},
        Row{"Gone", {.was_there = true}, Kind::fail, "deleted on the server"},
        Row{"GoneAfterItsResults", {.was_there = true, .has_results = true}, Kind::done},
        Row{"GoneAfterTerminate", {.was_there = true, .stop_sent = true}, Kind::stopped},
        Row{"SomebodyElses", {.workflow = WorkflowFacts{.name = "eval-1"}}, Kind::fail, "not this evaluation's"},
        Row{"JustMade", {.workflow = in(WorkflowPhase::unknown)}, Kind::follow},
        Row{"Pending", {.workflow = in(WorkflowPhase::pending)}, Kind::follow},
        Row{"Running", {.workflow = in(WorkflowPhase::running)}, Kind::follow},
        Row{"RunningToStop", {.workflow = in(WorkflowPhase::running), .stop_wanted = true}, Kind::stop},
        Row{"RunningStopSent",
            {.workflow = in(WorkflowPhase::running), .stop_wanted = true, .stop_sent = true},
            Kind::follow},
        Row{"RunningStopIsLate",
            {.workflow = in(WorkflowPhase::running), .stop_wanted = true, .stop_sent = true, .stop_is_late = true},
            Kind::terminate},
        Row{"RunningTerminateSent",
            {.workflow = in(WorkflowPhase::running),
             .stop_wanted = true,
             .stop_sent = true,
             .stop_is_late = true,
             .terminate_sent = true},
            Kind::follow},
        Row{"FailedAfterStop",
            {.workflow = in(WorkflowPhase::failed), .stop_wanted = true, .stop_sent = true},
            Kind::stopped},
        Row{"SucceededWhileStopped", {.workflow = in(WorkflowPhase::succeeded), .stop_wanted = true}, Kind::stopped},
        Row{"Succeeded", {.workflow = in(WorkflowPhase::succeeded)}, Kind::take_results},
        Row{"SucceededWithResults", {.workflow = in(WorkflowPhase::succeeded), .has_results = true}, Kind::done},
        Row{"SucceededWithout",
            {.workflow = in(WorkflowPhase::succeeded), .results_were_sought = true},
            Kind::fail,
            "neither in its log nor among its outputs"},
        Row{"Failed",
            {.workflow = in(WorkflowPhase::failed, "exit code 1"), .has_results = true, .retries_left = 3},
            Kind::fail,
            "ended as Failed: exit code 1"},
        Row{"ErrorWithRetries", {.workflow = in(WorkflowPhase::error), .retries_left = 1}, Kind::retry},
        Row{"ErrorWithout", {.workflow = in(WorkflowPhase::error, "node lost")}, Kind::fail, "Error: node lost"}),
    [](const auto& each) { return std::string(each.param.name); });

}  // namespace
}  // namespace stackgate::evaluator
