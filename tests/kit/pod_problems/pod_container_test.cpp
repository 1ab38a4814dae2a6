// What kubelet writes of containers that wait or end; and that the words stay the same while the cause stays.
#include <algorithm>

#include <gtest/gtest.h>

#include "services/kit/pod_problems/pod.hpp"
#include "tests/kit/pod_problems/pods.hpp"
#include "tests/support/parsed.hpp"

namespace stackgate::pods::tests {
namespace pod_containers {

struct Case {
  std::string_view what;
  PodText pod;
  std::string_view reason, told;
  bool lasting = false, waiting = false;
};
void PrintTo(const Case& each, std::ostream* out) { *out << each.what; }

class Containers : public ::testing::TestWithParam<Case> {};

TEST_P(Containers, AreToldByTheirCause) {
  const test::Parsed pod(pod_text(GetParam().pod));
  const auto problem = pod_problem(*pod);
  ASSERT_EQ(problem.has_value(), !GetParam().reason.empty()) << problem->reason << ": " << problem->message;
  if (!problem) return;
  EXPECT_EQ(problem->reason, GetParam().reason);
  EXPECT_EQ(problem->message, GetParam().told);
  EXPECT_EQ(problem->lasting, GetParam().lasting);
  EXPECT_EQ(is_waiting(*problem), GetParam().waiting);
}

constexpr std::string_view crash_wait =
    R"j("restartCount": 2, "state": {"waiting": {"reason": "CrashLoopBackOff", "message": "back-off 20s restarting failed container=server pod=llm-7c9d8b6f5-x2kq9_ml(0c7e)"}}, "lastState": {"terminated": {"exitCode": 1, "reason": "Error", "message": "loading\n2026-11-20T09:59:58Z ERROR no such model\n", "startedAt": "2026-11-20T09:59:50Z", "finishedAt": "2026-11-20T09:59:58Z"}})j";
constexpr std::string_view crash_run =
    R"("restartCount": 3, "started": false, "state": {"running": {"startedAt": "2026-11-20T10:00:10Z"}}, "lastState": {"terminated": {"exitCode": 1, "reason": "Error", "message": "2026-11-20T10:00:08Z ERROR no such model", "startedAt": "2026-11-20T09:59:50Z", "finishedAt": "2026-11-20T09:59:58Z"}})";
constexpr std::string_view crash_end =
    R"("restartCount": 3, "state": {"terminated": {"exitCode": 1, "reason": "Error", "message": "ERROR no such model\n\n", "startedAt": "2026-11-20T10:00:10Z", "finishedAt": "2026-11-20T10:00:18Z"}}, "lastState": {})";
constexpr std::string_view crash_told = "the container server ends with exit code 1: ERROR no such model";

INSTANTIATE_TEST_SUITE_P(
    WhatIsMerelyStarting, Containers,
    ::testing::Values(
        Case{"not seen by a node yet", {.container = R"("state": {})"}, "", ""}, Case{"being created", {}, "", ""},
        Case{"init containers run first",
             {.container = R"("state": {"waiting": {"reason": "PodInitializing"}})",
              .init = R"("restartCount": 0, "state": {"running": {"startedAt": "2026-11-20T10:00:10Z"}})"},
             "",
             ""},
        Case{"an init container is done",
             {.phase = "Running",
              .container = R"("state": {"running": {"startedAt": "2026-11-20T10:00:10Z"}})",
              .init = R"("restartCount": 0, "state": {"terminated": {"exitCode": 0, "reason": "Completed"}})"},
             "",
             ""},
        Case{
            "loading a model",
            {.phase = "Running",
             .container =
                 R"("restartCount": 0, "started": false, "state": {"running": {"startedAt": "2026-11-20T10:00:10Z"}})"},
            "",
            ""},
        Case{"a Job's pod that is done",
             {.phase = "Succeeded",
              .container = R"("state": {"terminated": {"exitCode": 0, "reason": "Completed"}})",
              .policy = "Never"},
             "",
             ""},
        Case{
            "has crashed long ago and was ready since",
            {.phase = "Running",
             .container =
                 R"("restartCount": 9, "state": {"running": {"startedAt": "2026-11-19T10:00:00Z"}}, "lastState": {"terminated": {"exitCode": 1}})"},
            "",
            ""}));

INSTANTIATE_TEST_SUITE_P(
    Crashes, Containers,
    ::testing::Values(
        Case{
            "waits before the next try", {.phase = "Running", .container = crash_wait}, "CrashLoopBackOff", crash_told},
        Case{"runs for a moment", {.phase = "Running", .container = crash_run}, "CrashLoopBackOff", crash_told},
        Case{"has just ended", {.phase = "Running", .container = crash_end}, "CrashLoopBackOff", crash_told},
        Case{
            "for five times",
            {.phase = "Running",
             .container =
                 R"("restartCount": 5, "state": {"waiting": {"reason": "CrashLoopBackOff"}}, "lastState": {"terminated": {"exitCode": 3, "reason": "Error", "startedAt": "2026-11-20T09:59:50Z", "finishedAt": "2026-11-20T10:09:49Z"}})"},
            "CrashLoopBackOff",
            "the container server ends with exit code 3",
            true},
        Case{
            "often, but each time after a long run",
            {.phase = "Running",
             .container =
                 R"("restartCount": 50, "state": {"waiting": {"reason": "CrashLoopBackOff"}}, "lastState": {"terminated": {"exitCode": 3, "reason": "Error", "startedAt": "2026-02-28T23:59:50Z", "finishedAt": "2026-03-01T00:09:50Z"}})"},
            "CrashLoopBackOff",
            "the container server ends with exit code 3"},
        Case{
            "stopped by its probe",
            {.phase = "Running",
             .container =
                 R"("restartCount": 1, "state": {"running": {"startedAt": "2026-11-20T10:20:10Z"}}, "lastState": {"terminated": {"exitCode": 143, "reason": "Error"}})"},
            "CrashLoopBackOff",
            "the container server ends with exit code 143 (stopped from outside, as a rule by its startup or liveness "
            "probe)"},
        Case{"ends without a fault",
             {.phase = "Running",
              .container = R"("restartCount": 1, "state": {"terminated": {"exitCode": 0, "reason": "Completed"}})"},
             "CrashLoopBackOff",
             "the container server ends by itself (exit code 0) instead of serving"},
        Case{"kubelet has lost the last run",
             {.phase = "Running",
              .container =
                  R"("restartCount": 1, "state": {"waiting": {"reason": "CrashLoopBackOff"}}, "lastState": {})"},
             "CrashLoopBackOff",
             "the container server ends again and again"},
        Case{
            "out of memory",
            {.phase = "Running",
             .container =
                 R"("restartCount": 1, "state": {"waiting": {"reason": "CrashLoopBackOff"}}, "lastState": {"terminated": {"exitCode": 137, "reason": "OOMKilled"}})"},
            "OutOfMemory",
            "the container server ran out of memory (exit code 137); its limit is 64Gi; raise resources.limits.memory"},
        Case{"killed without a reason",
             {.phase = "Running",
              .container = R"("restartCount": 1, "state": {"terminated": {"exitCode": 137, "reason": "Error"}})"},
             "OutOfMemory",
             "the container server was killed (exit code 137), most likely for its memory; its limit is 64Gi; raise "
             "resources.limits.memory"},
        Case{
            "the file is not in the image (1.20)",
            {.container =
                 R"("restartCount": 1, "state": {"waiting": {"reason": "RunContainerError", "message": "failed to start container \"7f\": exec: \"serve\": executable file not found in $PATH"}})"},
            "RunContainerError",
            "the container server cannot be started (RunContainerError): failed to start container \"7f\": exec: "
            "\"serve\": executable file not found in $PATH"},
        Case{
            "the file is not in the image (later)",
            {.phase = "Running",
             .container =
                 R"("restartCount": 1, "state": {"waiting": {"reason": "CrashLoopBackOff"}}, "lastState": {"terminated": {"exitCode": 128, "reason": "StartError", "message": "failed to create containerd task: exec: \"serve\": executable file not found in $PATH"}})"},
            "RunContainerError",
            "the container server cannot be started: failed to create containerd task: exec: \"serve\": executable "
            "file not found in $PATH"},
        Case{
            "of a Job",
            {.phase = "Failed",
             .container =
                 R"("restartCount": 0, "state": {"terminated": {"exitCode": 1, "reason": "Error", "message": "401 Unauthorized"}})",
             .policy = "Never"},
            "ContainerFailed",
            "the container server ended with exit code 1: 401 Unauthorized"}));

constexpr std::string_view initializing = R"("state": {"waiting": {"reason": "PodInitializing"}})";

INSTANTIATE_TEST_SUITE_P(
    InitContainers, Containers,
    ::testing::Values(
        Case{
            "the migration fails",
            {.container = initializing,
             .init =
                 R"("restartCount": 1, "state": {"waiting": {"reason": "CrashLoopBackOff"}}, "lastState": {"terminated": {"exitCode": 2, "reason": "Error", "message": "password authentication failed for user \"store\""}})"},
            "InitContainerFailed",
            "database migration failed: the init container migrate ended with exit code 2: password authentication "
            "failed for user \"store\""},
        Case{
            "and is tried again",
            {.container = initializing,
             .init =
                 R"("restartCount": 2, "state": {"running": {"startedAt": "2026-11-20T10:20:10Z"}}, "lastState": {"terminated": {"exitCode": 2, "reason": "Error", "message": "password authentication failed for user \"store\""}})"},
            "InitContainerFailed",
            "database migration failed: the init container migrate ended with exit code 2: password authentication "
            "failed for user \"store\""},
        Case{
            "its image is missing",
            {.container = initializing,
             .init =
                 R"("state": {"waiting": {"reason": "ImagePullBackOff", "message": "Back-off pulling image \"registry.example.com/datastore:1\""}})"},
            "ImagePullBackOff",
            "the image registry.example.com/datastore:1 cannot be pulled",
            false,
            true}));

INSTANTIATE_TEST_SUITE_P(
    Configuration, Containers,
    ::testing::Values(
        Case{
            "no Secret",
            {.container =
                 R"("state": {"waiting": {"reason": "CreateContainerConfigError", "message": "secret \"registry-api\" not found"}})"},
            "SecretNotFound",
            "there is no Secret registry-api; create it in the same namespace",
            false,
            true},
        Case{
            "no key in the Secret",
            {.container =
                 R"("state": {"waiting": {"reason": "CreateContainerConfigError", "message": "couldn't find key REGISTRY_API_KEY in Secret ml/registry-api"}})"},
            "SecretKeyNotFound",
            "the Secret registry-api has no key REGISTRY_API_KEY; add it",
            false,
            true},
        Case{
            "no ConfigMap",
            {.container =
                 R"("state": {"waiting": {"reason": "CreateContainerConfigError", "message": "configmap \"features\" not found"}})"},
            "ConfigMapNotFound",
            "there is no ConfigMap features; create it in the same namespace",
            false,
            true},
        Case{
            "no key in the ConfigMap",
            {.container =
                 R"("state": {"waiting": {"reason": "CreateContainerConfigError", "message": "couldn't find key enabled in ConfigMap ml/features"}})"},
            "ConfigMapKeyNotFound",
            "the ConfigMap features has no key enabled; add it",
            false,
            true},
        Case{
            "root",
            {.container =
                 R"j("state": {"waiting": {"reason": "CreateContainerConfigError", "message": "container has runAsNonRoot and image will run as root (pod: \"llm-7c9d8b6f5-x2kq9_ml(0c7e)\", container: server)"}})j"},
            "ContainerConfigError",
            "the container server cannot be made: container has runAsNonRoot and image will run as root; set "
            "podSecurityContext.runAsUser",
            true},
        Case{
            "anything else",
            {.container =
                 R"("state": {"waiting": {"reason": "CreateContainerConfigError", "message": "failed to sync secret cache: timed out waiting for the condition"}})"},
            "ContainerConfigError",
            "the container server cannot be made: failed to sync secret cache: timed out waiting for the condition"}));

INSTANTIATE_TEST_SUITE_P(
    Departures, Containers,
    ::testing::Values(
        Case{
            "evicted",
            {.phase = "Failed",
             .status =
                 R"("reason": "Evicted", "message": "The node was low on resource: ephemeral-storage. Container server was using 12Gi, which exceeds its request of 0. ",)"},
            "Evicted",
            "the pod was evicted: its node ran out of ephemeral-storage",
            false,
            true},
        Case{
            "used too much",
            {.phase = "Failed",
             .status =
                 R"("reason": "Evicted", "message": "Pod ephemeral local storage usage exceeds the total limit of containers 1Gi. ",)"},
            "Evicted",
            "the pod was evicted: Pod ephemeral local storage usage exceeds the total limit of containers 1Gi.",
            false,
            true},
        Case{
            "refused by the node",
            {.phase = "Failed",
             .status =
                 R"("reason": "UnexpectedAdmissionError", "message": "Pod Allocate failed due to no healthy devices present, which is unexpected",)"},
            "PodFailed",
            "the pod has failed (UnexpectedAdmissionError): Pod Allocate failed due to no healthy devices present, "
            "which is unexpected"},
        Case{"its node is gone",
             {.phase = "Unknown", .status = R"("reason": "NodeLost",)"},
             "NodeLost",
             "the node gpu-1 does not answer",
             false,
             true}));

TEST(Containers, OfAPodThatIsBeingDeletedHaveNoProblem) {
  std::string text = pod_text({.phase = "Running", .container = crash_wait});
  text.replace(text.find(R"("labels")"), 0, R"("deletionTimestamp": "2026-11-20T10:00:00Z", )");
  const test::Parsed pod(text);
  EXPECT_FALSE(pod_problem(*pod));
  EXPECT_TRUE(pod_facts(*pod).deleting);
}

TEST(Containers, OnANodeThatHasGoneSilentAreTold) {
  const test::Parsed pod(R"({"spec": {"nodeName": "gpu-7"}, "status": {"phase": "Running",
    "conditions": [{"type": "Ready", "status": "False"}, {"type": "ContainersReady", "status": "True"}],
    "containerStatuses": [{"name": "server", "ready": true, "state": {"running": {}}}]}})");
  EXPECT_EQ(pod_problem(*pod).value().message, "the node gpu-7 does not answer");
}

TEST(Containers, OfAReadyPodGiveItsFacts) {
  const test::Parsed pod(pod_text({.phase = "Running",
                                   .ready = R"("status": "True")",
                                   .container = R"("state": {"running": {}})",
                                   .container_ready = true}));
  EXPECT_EQ(pod_facts(*pod),
            (PodFacts{.name = "llm-7c9d8b6f5-x2kq9", .phase = "Running", .ready = true, .scheduled = true}));
}

TEST(Containers, ThatNobodyHasCheckedAreReadWithoutFalling) {
  for (
      const std::string_view text :
      {"7", "[]", "{}", R"({"status": []})",
       R"({"status": {"phase": 3, "conditions": {"type": 1}, "containerStatuses": "x"}})",
       R"({"status": {"containerStatuses": [7, {"state": 3}, {"state": {"terminated": 7}}, {"state": {"waiting": {"reason": ""}}}]}})",
       R"({"spec": {"containers": [{"name": 7}]}, "status": {"initContainerStatuses": [{"state": {"waiting": {"reason": "CreateContainerConfigError", "message": "couldn't find key "}}}]}})"}) {
    const test::Parsed pod{std::string(text)};
    (void)pod_facts(*pod);
  }
}

TEST(WorstProblem, DoesNotDependOnTheOrderOfThePods) {
  const auto pod = [](std::string_view reason, std::string_view message, bool lasting = false, bool deleting = false) {
    return PodFacts{.name = std::string(message),
                    .deleting = deleting,
                    .problem = Problem{std::string(reason), std::string(message), lasting}};
  };
  std::vector<PodFacts> pods = {pod("Unschedulable", "a"),
                                pod("CrashLoopBackOff", "z"),
                                pod("CrashLoopBackOff", "y"),
                                pod("Evicted", "e"),
                                pod("InvalidImageName", "gone", true, true),
                                {.name = "fine"}};
  std::ranges::sort(pods, {}, &PodFacts::name);
  do {
    ASSERT_EQ(worst_problem(pods)->message, "y");
  } while (std::ranges::next_permutation(pods, {}, &PodFacts::name).found);
  pods.push_back(pod("PodFailed", "p", true));
  EXPECT_EQ(worst_problem(pods)->message, "p") << "lasting comes first";
  EXPECT_EQ(worst_problem({}), nullptr);
}

}  // namespace pod_containers
}  // namespace stackgate::pods::tests
