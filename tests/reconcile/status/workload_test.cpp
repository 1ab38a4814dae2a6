// The table of reconcile/status/README.md: every row of it, and the flaps that must not be.
#include "reconcile/status/workload.hpp"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include "tests/support/parsed.hpp"

namespace stackgate::reconcile::tests {
namespace workloads {

struct Deployment {
  int spec = 2, made = 2, updated = 2, available = 2;
  int generation = 3, seen = 3;
  std::string_view conditions = {};  // each with a comma before it
  bool deleting = false;
  bool paused = false;
};

std::string text_of(const Deployment& d) {
  return fmt::format(
      R"({{"apiVersion": "apps/v1", "kind": "Deployment", "metadata": {{"name": "llm", "namespace": "ml", "generation": {}{}}},
          "spec": {{"replicas": {}{}}}, "status": {{"observedGeneration": {}, "replicas": {}, "updatedReplicas": {},
          "availableReplicas": {}, "conditions": [{{"type": "Available", "status": "False"}}{}]}}}})",
      d.generation, d.deleting ? R"(, "deletionTimestamp": "2026-11-20T10:00:00Z")" : "", d.spec,
      d.paused ? R"(, "paused": true)" : "", d.seen, d.made, d.updated, d.available, d.conditions);
}

PodFacts running(std::optional<Problem> problem = {}) {
  return {.name = "r", .phase = "Running", .problem = std::move(problem)};
}
PodFacts pending(std::optional<Problem> problem = {}) {
  return {.name = "p", .phase = "Pending", .problem = std::move(problem)};
}

const Problem crash{"CrashLoopBackOff", "it ends", false}, crash_for_good{"CrashLoopBackOff", "it ends", true},
    image{"ImagePullBackOff", "no image", false}, bad_image{"InvalidImageName", "bad image", true},
    no_gpu{"Unschedulable", "no gpu", false}, no_secret{"SecretNotFound", "no secret", false},
    claim{"ClaimPending", "claim waits", false}, taken{"NameTaken", "taken", true},
    cache_waits{"CacheNotReady", "the cache is not ready", false},
    cache_failed{"CacheFailed", "the cache failed", true};

constexpr std::string_view late =
    R"(, {"type": "Progressing", "status": "False", "reason": "ProgressDeadlineExceeded"})";
constexpr std::string_view quota =
    R"(, {"type": "ReplicaFailure", "status": "True", "reason": "FailedCreate", "message": "pods \"llm-7c9d8b6f5-x2kq9\" is forbidden: exceeded quota: compute, requested: requests.nvidia.com/gpu=8, used: requests.nvidia.com/gpu=4, limited: requests.nvidia.com/gpu=8"})";
constexpr std::string_view security =
    R"(, {"type": "ReplicaFailure", "status": "True", "reason": "FailedCreate", "message": "pods \"llm-7c9d8b6f5-x2kq9\" is forbidden: violates PodSecurity \"restricted:latest\": host namespaces"})";

struct Case {
  std::string_view what;
  std::optional<Deployment> deployment;
  std::vector<PodFacts> pods;
  std::vector<Problem> blockers;
  State state;
  std::string_view reason;
  std::optional<std::int64_t> wanted = 2;
  bool acts = true;
};
void PrintTo(const Case& each, std::ostream* out) { *out << each.what; }

class Workloads : public ::testing::TestWithParam<Case> {};

TEST_P(Workloads, HaveOneState) {
  const Case& each = GetParam();
  const test::Parsed object(each.deployment ? text_of(*each.deployment) : "{}");
  const Status status = workload_status({.object = each.deployment ? object.get() : nullptr,
                                         .wanted = each.wanted,
                                         .pods = each.pods,
                                         .blockers = each.blockers,
                                         .acts = each.acts});
  EXPECT_EQ(to_string(status.state), to_string(each.state));
  ASSERT_EQ(status.conditions.size(), 1U);
  EXPECT_EQ(status.conditions[0].type, "Ready");
  EXPECT_EQ(status.conditions[0].reason, each.reason);
  EXPECT_FALSE(status.conditions[0].message.empty());
  EXPECT_EQ(status.conditions[0].status, each.state == State::ready     ? "True"
                                         : each.state == State::unknown ? "Unknown"
                                                                        : "False");
  EXPECT_EQ(status.available_replicas, each.deployment ? each.deployment->available : 0);
}

using D = Deployment;
constexpr State ready = State::ready, not_ready = State::not_ready, waits = State::pending, failed = State::failed;

INSTANTIATE_TEST_SUITE_P(
    Absent, Workloads,
    ::testing::Values(Case{"to be made", {}, {}, {}, waits, "Creating"},
                      Case{"waits for its cache", {}, {}, {cache_waits}, waits, "CacheNotReady"},
                      Case{"its cache has failed", {}, {}, {cache_waits, cache_failed}, failed, "CacheFailed"},
                      Case{"its name is taken", {}, {}, {taken}, failed, "NameTaken"},
                      Case{"of a resource that is leaving", {}, {}, {}, State::unknown, "NotObserved", 2, false}));

INSTANTIATE_TEST_SUITE_P(
    Counted, Workloads,
    ::testing::Values(
        Case{"all are available", D{}, {running(), running()}, {}, ready, "AllReplicasAvailable"},
        Case{"and one that is leaving still ends",
             D{},
             {running(), running(), {.phase = "Failed", .problem = Problem{"Evicted", "e"}}},
             {},
             ready,
             "AllReplicasAvailable"},
        Case{"of an autoscaler",
             D{.spec = 5, .made = 5, .updated = 5, .available = 5},
             {},
             {},
             ready,
             "AllReplicasAvailable",
             std::nullopt},
        Case{"a claim that was bound late is forgotten", D{}, {running()}, {claim}, ready, "AllReplicasAvailable"},
        Case{"the controller has not seen the change",
             D{.generation = 4},
             {running(), running()},
             {},
             not_ready,
             "RollingOut"},
        Case{"the change is not written yet", D{}, {running(), running()}, {}, not_ready, "RollingOut", 3},
        Case{"just made",
             D{.made = 0, .updated = 0, .available = 0, .generation = 1, .seen = 0},
             {},
             {},
             waits,
             "Starting"},
        Case{"pods are being made", D{.available = 0}, {pending(), pending()}, {}, waits, "Starting"},
        Case{"one runs already", D{.available = 0}, {pending(), running()}, {}, not_ready, "ReplicasNotReady"},
        Case{"one is available", D{.available = 1}, {pending(), running()}, {}, not_ready, "ReplicasNotReady"},
        Case{"a new version beside the old",
             D{.made = 3, .updated = 1},
             {running(), running(), pending()},
             {},
             not_ready,
             "RollingOut"},
        Case{"the old version still ends", D{.made = 3, .updated = 2}, {running()}, {}, not_ready, "RollingOut"},
        Case{"one more than wanted still ends",
             D{.made = 3, .updated = 3, .available = 3},
             {running()},
             {},
             ready,
             "AllReplicasAvailable"},
        Case{"is being deleted", D{.deleting = true}, {running()}, {}, not_ready, "Terminating"}));

INSTANTIATE_TEST_SUITE_P(
    Paused, Workloads,
    ::testing::Values(
        Case{"the old version serves", D{.updated = 0, .paused = true}, {running()}, {}, not_ready, "RolloutPaused"},
        Case{"half way", D{.updated = 1, .paused = true}, {running()}, {}, not_ready, "RolloutPaused"},
        Case{"the old version crashes",
             D{.updated = 0, .available = 0, .paused = true},
             {pending(crash)},
             {},
             State::pending,
             "RolloutPaused"},
        Case{"from the start",
             D{.made = 0, .updated = 0, .available = 0, .paused = true},
             {},
             {},
             State::pending,
             "RolloutPaused"},
        Case{"all is of the newest version", D{.paused = true}, {running()}, {}, ready, "AllReplicasAvailable"},
        Case{"the newest version crashes",
             D{.available = 1, .paused = true},
             {pending(crash)},
             {},
             not_ready,
             "CrashLoopBackOff"},
        Case{
            "not seen yet", D{.updated = 2, .generation = 4, .paused = true}, {running()}, {}, not_ready, "RollingOut"},
        Case{"a name is taken all the same", D{.updated = 0, .paused = true}, {}, {taken}, failed, "NameTaken"}));

TEST(Workload, APausedRolloutSaysHowToGoOn) {
  const test::Parsed object(text_of({.updated = 0, .paused = true}));
  const Status status = workload_status({.object = object.get(), .wanted = 2});
  EXPECT_EQ(status.conditions.at(0).message,
            "the Deployment llm was paused by hand, so its new version is not rolled out; to go on: `kubectl rollout "
            "resume deployment/llm -n ml`");
}

INSTANTIATE_TEST_SUITE_P(
    ScaledToZero, Workloads,
    ::testing::Values(
        Case{
            "nothing is left", D{.spec = 0, .made = 0, .updated = 0, .available = 0}, {}, {}, ready, "ScaledToZero", 0},
        Case{"not yet seen",
             D{.spec = 0, .made = 0, .updated = 0, .available = 0, .generation = 4},
             {},
             {},
             not_ready,
             "ScalingDown",
             0},
        Case{"the last pod ends",
             D{.spec = 0, .made = 1, .updated = 1, .available = 0},
             {running()},
             {},
             not_ready,
             "ScalingDown",
             0},
        Case{"a name is taken all the same", D{.spec = 0, .made = 0}, {}, {taken}, failed, "NameTaken", 0}));

constexpr D none{.available = 0}, some{.available = 1}, none_late{.available = 0, .conditions = late},
    some_late{.available = 1, .conditions = late};

INSTANTIATE_TEST_SUITE_P(
    Problemsome_KEEP, Workloads,
    ::testing::Values(
        Case{"no image", none, {pending(image)}, {}, waits, "ImagePullBackOff"},
        Case{"no image, past the deadline", none_late, {pending(image)}, {}, waits, "ImagePullBackOff"},
        Case{"no node", none_late, {pending(no_gpu)}, {}, waits, "Unschedulable"},
        Case{"no secret", none_late, {pending(no_secret)}, {}, waits, "SecretNotFound"},
        Case{"a claim waits for the pod's node", none_late, {pending(no_gpu)}, {claim}, waits, "Unschedulable"},
        Case{"a claim waits", none_late, {pending()}, {claim}, waits, "ClaimPending"},
        Case{"a bad image name", none, {pending(bad_image)}, {}, failed, "InvalidImageName"},
        Case{"a bad image name while others serve",
             some,
             {pending(bad_image), running()},
             {},
             not_ready,
             "InvalidImageName"},
        Case{"a crash", none, {running(crash)}, {}, not_ready, "CrashLoopBackOff"},
        Case{"a crash past the deadline", none_late, {running(crash)}, {}, failed, "CrashLoopBackOff"},
        Case{"a crash again and again", none, {running(crash_for_good)}, {}, failed, "CrashLoopBackOff"},
        Case{"a crash again and again while others serve",
             some_late,
             {running(crash_for_good), running()},
             {},
             not_ready,
             "CrashLoopBackOff"},
        Case{"a crash beside a pod without a node",
             none,
             {pending(no_gpu), running(crash)},
             {},
             not_ready,
             "CrashLoopBackOff"},
        Case{"started in vain", none_late, {running()}, {}, failed, "ProgressDeadlineExceeded"},
        Case{"the new version starts in vain", some_late, {running()}, {}, not_ready, "ReplicasNotReady"},
        Case{"no quota",
             D{.made = 0, .updated = 0, .available = 0, .conditions = quota},
             {},
             {},
             waits,
             "QuotaExceeded"},
        Case{"no quota for the second",
             D{.made = 1, .updated = 1, .available = 1, .conditions = quota},
             {running()},
             {},
             not_ready,
             "QuotaExceeded"},
        Case{"pods are refused",
             D{.made = 0, .updated = 0, .available = 0, .conditions = security},
             {},
             {},
             waits,
             "PodsRefused"},
        Case{"a lasting blocker though all serve", D{}, {running()}, {claim, taken}, failed, "NameTaken"},
        Case{"pods that are leaving do not count",
             none,
             {{.phase = "Running", .deleting = true, .problem = crash}},
             {},
             waits,
             "Starting"}));

std::string message_with(std::string_view conditions) {
  const test::Parsed object(text_of({.made = 0, .updated = 0, .available = 0, .conditions = conditions}));
  return workload_status({.object = object.get()}).conditions.at(0).message;
}

TEST(RefusedPods, AreToldWithoutWhatChangesAtEachTry) {
  EXPECT_EQ(message_with(quota),
            "the pods exceed a quota of the namespace: compute, requested: requests.nvidia.com/gpu=8, limited: "
            "requests.nvidia.com/gpu=8");
  EXPECT_EQ(message_with(security),
            "the API server refuses the pods: violates PodSecurity \"restricted:latest\": host namespaces");
}

TEST(LeaderWorkerSets, CountGroupsThatAreReady) {
  const auto state = [](std::string_view generations, std::string_view status) {
    const test::Parsed object(
        fmt::format(R"({{"kind": "LeaderWorkerSet", "metadata": {{{}}}, "spec": {{"replicas": 2}}, "status": {{{}}}}})",
                    generations, status));
    const Status out = workload_status({.object = object.get(), .wanted = 2});
    return fmt::format("{} {} {}", to_string(out.state), out.conditions.at(0).reason, *out.available_replicas);
  };
  const std::string_view full = R"("replicas": 2, "updatedReplicas": 2, "readyReplicas": 2, "conditions": [])";
  EXPECT_EQ(state(R"("generation": 4)", full), "Ready AllReplicasAvailable 2");
  EXPECT_EQ(state(R"("generation": 4)", fmt::format("\"observedGeneration\": 4, {}", full)),
            "Ready AllReplicasAvailable 2");
  EXPECT_EQ(state(R"("generation": 4)", fmt::format("\"observedGeneration\": 3, {}", full)), "NotReady RollingOut 2");
  EXPECT_EQ(state(R"("generation": 4)", R"("replicas": 2, "updatedReplicas": 2, "readyReplicas": 1, "conditions": [])"),
            "NotReady ReplicasNotReady 1");
  EXPECT_EQ(state(R"("generation": 1)", ""), "Pending Starting 0");
}

std::string image_message(std::string_view now, const json::Value* stored) {
  const test::Parsed object(text_of(none));
  const std::vector<PodFacts> pods = {pending(Problem{"ImagePullBackOff", std::string(now)})};
  return workload_status({.object = object.get(), .pods = pods, .stored = stored}).conditions.at(0).message;
}

TEST(ImageProblems, KeepTheirCauseWhileKubeletWaits) {
  const test::Parsed stored(
      R"({"conditions": [{"type": "Ready", "reason": "ImagePullBackOff", "message": "the image a:1 cannot be pulled: refused"}]})");
  EXPECT_EQ(image_message("the image a:1 cannot be pulled", stored.get()), "the image a:1 cannot be pulled: refused");
  EXPECT_EQ(image_message("the image a:1 cannot be pulled: absent", stored.get()),
            "the image a:1 cannot be pulled: absent");
  EXPECT_EQ(image_message("the image a:12 cannot be pulled", stored.get()), "the image a:12 cannot be pulled");
  EXPECT_EQ(image_message("the image a:1 cannot be pulled", nullptr), "the image a:1 cannot be pulled");
}

TEST(Claims, AreJudgedByTheirPhase) {
  const auto judged = [](std::string_view text) {
    const test::Parsed object{std::string(text)};
    const auto problem = claim_problem(object.get(), "data");
    return problem ? fmt::format("{}{}: {}", problem->reason, problem->lasting ? "!" : "", problem->message) : "";
  };
  EXPECT_EQ(claim_problem(nullptr, "data").value().reason, "ClaimNotFound");
  EXPECT_EQ(judged(R"({"status": {"phase": "Bound"}})"), "");
  EXPECT_EQ(judged(R"({"spec": {"storageClassName": "fast"}, "status": {"phase": "Pending"}})"),
            "ClaimPending: the claim data waits for a volume of the StorageClass fast");
  EXPECT_EQ(judged("{}"), "ClaimPending: the claim data waits for a volume");
  EXPECT_EQ(judged(R"({"spec": {"volumeName": "pv-3"}, "status": {"phase": "Lost"}})"),
            "ClaimLost!: the claim data has lost its volume pv-3; its data is gone");
  EXPECT_EQ(judged(R"({"metadata": {"deletionTimestamp": "2026-11-20T10:00:00Z"}, "status": {"phase": "Bound"}})"),
            "ClaimTerminating: the claim data is being deleted");
}

}  // namespace workloads
}  // namespace stackgate::reconcile::tests
