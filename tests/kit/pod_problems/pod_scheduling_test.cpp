// The scheduler's texts: 1.20 to 1.24 in the old words for taints, later ones with a remark on preemption.
#include <gtest/gtest.h>

#include "services/kit/json/write.hpp"
#include "services/kit/pod_problems/pod.hpp"
#include "tests/kit/pod_problems/pods.hpp"
#include "tests/support/parsed.hpp"

namespace stackgate::pods::tests {
namespace pod_scheduling {

struct Case {
  std::string_view message;  // of the condition PodScheduled
  std::string_view reason, told;
};

class Scheduling : public ::testing::TestWithParam<Case> {};

TEST_P(Scheduling, IsToldByWhatIsMissing) {
  std::string condition = R"("status": "False", "reason": "Unschedulable", "message": )";
  json::append_quoted(condition, GetParam().message);
  const test::Parsed pod(pod_text({.scheduled = condition, .container = R"("state": {})"}));
  const auto problem = pod_problem(*pod);
  ASSERT_TRUE(problem);
  EXPECT_EQ(problem->reason, GetParam().reason);
  EXPECT_EQ(problem->message, GetParam().told);
  EXPECT_FALSE(problem->lasting);
  EXPECT_TRUE(is_waiting(*problem));
}

INSTANTIATE_TEST_SUITE_P(
    Messages, Scheduling,
    ::testing::Values(
        Case{"0/4 nodes are available: 4 Insufficient nvidia.com/gpu.", "Unschedulable",
             "no node has 8 nvidia.com/gpu free"},
        // 1.20
        Case{"0/4 nodes are available: 1 node(s) had taint {node-role.kubernetes.io/master: }, that the pod didn't "
             "tolerate, 3 Insufficient nvidia.com/gpu.",
             "Unschedulable",
             "no node has 8 nvidia.com/gpu free; nodes that are ruled out: taint {node-role.kubernetes.io/master: } is "
             "not tolerated"},
        // 1.25 and later
        Case{"0/5 nodes are available: 1 node(s) had untolerated taint {node-role.kubernetes.io/control-plane: }, 2 "
             "Insufficient memory, 4 Insufficient nvidia.com/gpu. preemption: 0/5 nodes are available: 1 Preemption is "
             "not helpful for scheduling, 4 No preemption victims found for incoming pod.",
             "Unschedulable",
             "no node has 64Gi memory and 8 nvidia.com/gpu free; nodes that are ruled out: taint "
             "{node-role.kubernetes.io/control-plane: } is not tolerated"},
        // 1.34
        Case{"0/1 nodes are available: 1 Insufficient cpu. no new claims to deallocate, preemption: 0/1 nodes are "
             "available: 1 No preemption victims found for incoming pod.",
             "Unschedulable", "no node has 500m cpu free"},
        Case{"0/3 nodes are available: 3 Insufficient example.com/nic.", "Unschedulable",
             "no node has enough example.com/nic free"},
        Case{"0/3 nodes are available: 3 node(s) didn't match Pod's node affinity/selector.", "Unschedulable",
             "no node takes the pod: didn't match Pod's node affinity/selector"},
        Case{"0/3 nodes are available: 1 Too many pods, 2 node(s) had volume node affinity conflict.", "Unschedulable",
             "no node takes the pod: Too many pods; had volume node affinity conflict"},
        Case{"0/1 nodes are available: 1 node(s) had untolerated taint a}.", "Unschedulable",
             "no node takes the pod: had untolerated taint a}"},
        Case{"no nodes available to schedule pods", "Unschedulable",
             "no node takes the pod: no nodes available to schedule pods"},
        Case{"", "Unschedulable", "no node takes the pod"},
        Case{"0/2 nodes are available: 2 pod has unbound immediate PersistentVolumeClaims.", "ClaimPending",
             "a claim of the pod (llm-pvc) waits for a volume"},
        Case{"persistentvolumeclaim \"llm-pvc\" not found", "ClaimNotFound", "there is no claim llm-pvc; create it"},
        Case{"0/1 nodes are available: 1 persistentvolumeclaim \"llm-pvc\" not found.", "ClaimNotFound",
             "there is no claim llm-pvc; create it"}));

std::string told(std::string_view message) {
  std::string condition = R"("status": "False", "reason": "Unschedulable", "message": )";
  json::append_quoted(condition, message);
  const test::Parsed pod(pod_text({.scheduled = condition}));
  return pod_problem(*pod).value().message;
}

TEST(SchedulingWords, StayTheSameWhileNodesComeAndGo) {
  const std::string before = told("0/4 nodes are available: 1 node(s) were unschedulable, 3 Insufficient cpu.");
  EXPECT_EQ(before, told("0/9 nodes are available: 7 Insufficient cpu, 2 node(s) were unschedulable."));
}

TEST(SchedulingWords, AreCutBeforeTheyFillTheStatus) {
  std::string long_list = "0/900 nodes are available: ";
  for (int i = 0; i < 900; ++i) long_list += fmt::format("1 node(s) had untolerated taint {{team-ü-{}: yes}}, ", i);
  EXPECT_LE(told(long_list + "1 Insufficient cpu.").size(), 1024U);
}

TEST(SchedulingWords, NameNoAmountWhenSeveralContainersAsk) {
  const test::Parsed pod(
      R"({"spec": {"containers": [{"resources": {"requests": {"cpu": 1}}}, {"resources": {"requests": {"cpu": "1"}}}]},
    "status": {"phase": "Pending", "conditions": [{"type": "PodScheduled", "status": "False", "reason": "Unschedulable",
      "message": "0/1 nodes are available: 1 Insufficient cpu."}]}})");
  EXPECT_EQ(pod_problem(*pod).value().message, "no node has enough cpu free");
}

TEST(SchedulingWords, TellOfGates) {
  const test::Parsed pod(pod_text(
      {.scheduled =
           R"("status": "False", "reason": "SchedulingGated", "message": "Scheduling is blocked due to non-empty scheduling gates")"}));
  EXPECT_EQ(pod_problem(*pod).value().reason, "SchedulingGated");
}

}  // namespace pod_scheduling
}  // namespace stackgate::pods::tests
