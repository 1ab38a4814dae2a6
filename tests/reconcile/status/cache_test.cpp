// The table of reconcile/status/README.md for caches: every row of it, and whole downloads from event to event.
#include "reconcile/status/cache.hpp"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include "tests/support/parsed.hpp"

namespace stackgate::reconcile::tests {
namespace caches {

constexpr std::string_view
    bound = R"({"metadata": {"creationTimestamp": "2026-11-20T10:00:00Z"}, "status": {"phase": "Bound"}})",
    newer = R"({"metadata": {"creationTimestamp": "2026-11-20T12:00:00Z"}, "status": {"phase": "Bound"}})",
    waiting = R"({"metadata": {"creationTimestamp": "2026-11-20T10:00:00Z"}, "status": {"phase": "Pending"}})",
    lost = R"({"spec": {"volumeName": "pv-1"}, "status": {"phase": "Lost"}})",
    leaving = R"({"metadata": {"deletionTimestamp": "2026-11-20T12:00:00Z"}, "status": {"phase": "Bound"}})";
constexpr std::string_view
    made = R"({"status": {}})",
    active = R"({"status": {"active": 1}})", retried = R"({"status": {"active": 1, "failed": 1}})",
    between = R"({"status": {"failed": 2}})", suspended = R"({"spec": {"suspend": true}, "status": {}})",
    going = R"({"metadata": {"deletionTimestamp": "2026-11-20T12:00:00Z"}, "status": {"active": 1}})",
    complete =
        R"({"status": {"succeeded": 1, "completionTime": "2026-11-20T11:00:00Z", "conditions": [{"type": "Complete", "status": "True"}]}})",
    failed =
        R"({"status": {"failed": 6, "conditions": [{"type": "Failed", "status": "True", "reason": "BackoffLimitExceeded", "message": "Job has reached the specified backoff limit"}]}})";
constexpr std::string_view
    was_ready =
        R"({"state": "Ready", "conditions": [{"type": "Ready", "status": "True", "lastTransitionTime": "2026-11-20T11:00:00Z"}]})",
    was_failed =
        R"({"state": "Failed", "conditions": [{"type": "Ready", "status": "False", "reason": "VolumeFull", "message": "full; then delete the Job llm to try again"}]})";

PodFacts pod(std::string_view phase, std::optional<Problem> problem = {}) {
  return {.name = "llm-x", .phase = std::string(phase), .scheduled = true, .problem = std::move(problem)};
}
PodFacts pod_without_node() { return {.name = "llm-x", .phase = "Pending"}; }
Problem ended(std::string_view words) {
  return {"ContainerFailed", fmt::format("the container puller ended with exit code 1: {}", words), false};
}

struct Case {
  std::string_view what;
  std::string_view job, claim;  // empty: none
  std::vector<PodFacts> pods;
  std::string_view stored;
  State state;
  std::string_view reason;
  bool claim_missing = false;
  std::vector<Problem> blockers = {};
  bool needs_job = true;
};
void PrintTo(const Case& each, std::ostream* out) { *out << each.what; }

class Caches : public ::testing::TestWithParam<Case> {};

TEST_P(Caches, HaveOneState) {
  const Case& each = GetParam();
  const auto text = [](std::string_view json) { return std::string(json.empty() ? "{}" : json); };
  const test::Parsed job(text(each.job)), claim(text(each.claim)), stored(text(each.stored));
  const CacheView view{.name = "llm",
                       .job = each.job.empty() ? nullptr : job.get(),
                       .claim_name = "llm-pvc",
                       .claim = each.claim.empty() ? nullptr : claim.get(),
                       .claim_missing = each.claim_missing,
                       .claim_is_made = true,
                       .pods = each.pods,
                       .blockers = each.blockers,
                       .stored = each.stored.empty() ? nullptr : stored.get(),
                       .tries = 6};
  const Status status = cache_status(view);
  EXPECT_EQ(to_string(status.state), to_string(each.state));
  EXPECT_EQ(status.conditions.at(0).reason, each.reason) << status.conditions[0].message;
  EXPECT_FALSE(status.conditions[0].message.empty());
  EXPECT_EQ(status.conditions[0].status, each.state == State::ready ? "True" : "False");
  EXPECT_EQ(status.pvc, "llm-pvc");
  EXPECT_EQ(needs_job(view), each.needs_job);
}

const Problem no_image{"ImagePullBackOff", "no image", false}, bad_image{"InvalidImageName", "bad image", true},
    taken{"NameTaken", "taken", true}, no_node{"Unschedulable", "no node", false},
    no_memory{"OutOfMemory", "out of memory", false};

INSTANTIATE_TEST_SUITE_P(
    BeforeTheDownload, Caches,
    ::testing::Values(
        Case{"nothing is there", "", "", {}, "", State::pending, "Creating", true},
        Case{"a name is taken", "", bound, {}, "", State::failed, "NameTaken", false, {taken}},
        Case{"something else is in the way", "", bound, {}, "", State::pending, "Unschedulable", false, {no_node}},
        Case{"the claim is there", "", bound, {}, "", State::pvc_created, "ClaimCreated"},
        Case{"the claim has lost its volume", made, lost, {}, "", State::failed, "ClaimLost"},
        Case{"the Job is there", made, waiting, {}, "", State::pvc_created, "ClaimCreated"},
        Case{"its pod is there", active, waiting, {pod_without_node()}, "", State::pvc_created, "ClaimCreated"},
        Case{"its pod has a node", active, waiting, {pod("Pending")}, "", State::started, "Starting"},
        Case{"a queue holds the Job back", suspended, bound, {}, "", State::pending, "Suspended"},
        Case{"the Job is being deleted", going, bound, {pod("Running")}, "", State::pending, "Terminating"},
        Case{"no node", active, waiting, {pod("Pending", no_node)}, "", State::pending, "Unschedulable"},
        Case{"no image", active, bound, {pod("Pending", no_image)}, "", State::pending, "ImagePullBackOff"},
        Case{"a bad image name", active, bound, {pod("Pending", bad_image)}, "", State::failed, "InvalidImageName"},
        Case{"the claim is being deleted", active, leaving, {pod("Pending")}, "", State::pending, "ClaimTerminating"}));

INSTANTIATE_TEST_SUITE_P(
    Downloading, Caches,
    ::testing::Values(Case{"a pod runs", active, bound, {pod("Running")}, "", State::in_progress, "Downloading"},
                      Case{"it has ended, and the Job does not know yet",
                           active,
                           bound,
                           {pod("Succeeded")},
                           "",
                           State::in_progress,
                           "Downloading"},
                      Case{"it has failed, and the Job does not know yet",
                           active,
                           bound,
                           {pod("Failed", ended("oh"))},
                           "",
                           State::in_progress,
                           "Retrying"},
                      Case{"one has failed, one runs",
                           retried,
                           bound,
                           {pod("Failed", ended("oh")), pod("Running")},
                           "",
                           State::in_progress,
                           "Retrying"},
                      Case{"one has failed, one waits for a node",
                           retried,
                           bound,
                           {pod("Failed", ended("oh")), pod("Pending", no_node)},
                           "",
                           State::in_progress,
                           "Retrying"},
                      Case{"between two tries", between, bound, {}, "", State::in_progress, "Retrying"}));

INSTANTIATE_TEST_SUITE_P(
    Failed, Caches,
    ::testing::Values(
        Case{"for any reason", failed, bound, {pod("Failed", ended("oh"))}, "", State::failed, "DownloadFailed"},
        Case{"and again when it is asked again",
             failed,
             bound,
             {pod("Failed", ended("oh"))},
             was_failed,
             State::failed,
             "DownloadFailed"},
        Case{"the key was refused",
             failed,
             bound,
             {pod("Failed", ended("401 Unauthorized"))},
             "",
             State::failed,
             "Unauthorized"},
        Case{"the volume is full",
             failed,
             bound,
             {pod("Failed", ended("write: no space left on device"))},
             "",
             State::failed,
             "VolumeFull"},
        Case{"the volume is another's",
             failed,
             bound,
             {pod("Failed", ended("open: permission denied"))},
             "",
             State::failed,
             "PermissionDenied"},
        Case{"out of memory", failed, bound, {pod("Failed", no_memory)}, "", State::failed, "OutOfMemory"},
        Case{"its pods are gone", failed, bound, {}, "", State::failed, "DownloadFailed"},
        Case{"its pods are gone, but they were heard", failed, bound, {}, was_failed, State::failed, "VolumeFull"},
        Case{"the Job was deleted: a new try", "", bound, {}, was_failed, State::pvc_created, "ClaimCreated"}));

INSTANTIATE_TEST_SUITE_P(
    Ready, Caches,
    ::testing::Values(
        Case{"the Job is complete", complete, bound, {}, "", State::ready, "Downloaded"},
        Case{"whatever its pods were",
             complete,
             bound,
             {pod("Failed", ended("oh")), pod("Succeeded")},
             "",
             State::ready,
             "Downloaded"},
        Case{"of the claim nothing is known", complete, "", {}, "", State::ready, "Downloaded"},
        Case{"the Job is gone", "", bound, {}, was_ready, State::ready, "Downloaded", false, {}, false},
        Case{"the claim is gone", complete, "", {}, was_ready, State::not_ready, "ClaimNotFound", true},
        Case{"the claim is gone, and the Job too", "", "", {}, was_ready, State::not_ready, "ClaimNotFound", true},
        Case{"the claim was made anew", complete, newer, {}, was_ready, State::not_ready, "ClaimReplaced"},
        Case{"the claim was made anew, the Job is gone", "", newer, {}, was_ready, State::not_ready, "ClaimReplaced"},
        Case{"the claim has lost its volume", complete, lost, {}, was_ready, State::failed, "ClaimLost"},
        Case{"the claim has lost its volume, the Job is gone",
             "",
             lost,
             {},
             was_ready,
             State::failed,
             "ClaimLost",
             false,
             {},
             false},
        Case{"the claim is being deleted", complete, leaving, {}, was_ready, State::not_ready, "ClaimTerminating"},
        Case{"a name is taken all the same",
             complete,
             bound,
             {},
             was_ready,
             State::failed,
             "NameTaken",
             false,
             {taken}}));

struct Moment {
  std::string_view job;
  std::vector<PodFacts> pods;
};

/// The states and messages that a cache goes through, repeats left out; each status is stored before the next moment.
std::vector<std::string> states_over(const std::vector<Moment>& moments) {
  std::vector<std::string> out;
  std::string stored;
  for (const Moment& each : moments) {
    const test::Parsed job(std::string(each.job.empty() ? "{}" : each.job)), claim{std::string(bound)},
        before(stored.empty() ? "{}" : stored);
    const Status status = cache_status({.name = "llm",
                                        .job = each.job.empty() ? nullptr : job.get(),
                                        .claim_name = "llm-pvc",
                                        .claim = claim.get(),
                                        .claim_is_made = true,
                                        .pods = each.pods,
                                        .stored = before.get(),
                                        .tries = 6});
    const std::string told = fmt::format("{}: {}", to_string(status.state), status.conditions.at(0).message);
    if (out.empty() || out.back() != told) out.push_back(told);
    stored = status_json(status, 1, nullptr, "2026-11-20T11:00:00Z");
  }
  return out;
}

TEST(CacheHistory, OfADownloadThatEndsWell) {
  EXPECT_EQ(states_over({{"", {}},
                         {made, {}},
                         {active, {}},
                         {active, {pod_without_node()}},
                         {active, {pod("Pending")}},
                         {active, {pod("Running")}},
                         {active, {pod("Succeeded")}},
                         {made, {pod("Succeeded")}},
                         {complete, {pod("Succeeded")}},
                         {complete, {}},
                         {"", {}}}),
            (std::vector<std::string>{
                "PVCCreated: the claim llm-pvc is there", "Started: the download pod is being started",
                "InProgress: the model is being downloaded", "Ready: the model is on the claim llm-pvc"}));
}

TEST(CacheHistory, OfADownloadThatFailsDoesNotFlap) {
  const PodFacts first = pod("Failed", ended("401 Unauthorized"));
  constexpr std::string_view twice = R"({"status": {"active": 1, "failed": 2}})";
  EXPECT_EQ(states_over({{active, {pod("Running")}},
                         {active, {first}},
                         {R"({"status": {"failed": 1}})", {first}},
                         {retried, {first, pod("Pending")}},
                         {retried, {first, pod("Running")}},
                         {retried, {first, first}},
                         {twice, {first, first}},
                         {twice, {first, first, pod("Running")}},
                         {failed, {first, first, first}},
                         {failed, {first, first, first}},
                         {failed, {first}},
                         {failed, {}},
                         {failed, {}}}),
            (std::vector<std::string>{
                "InProgress: the model is being downloaded",
                "InProgress: try 1 of 6 has failed: the container puller ended with exit code 1: 401 Unauthorized; "
                "check the API key in the Secret that authSecret names; it is tried again",
                "InProgress: try 2 of 6 has failed: the container puller ended with exit code 1: 401 Unauthorized; "
                "check the API key in the Secret that authSecret names; it is tried again",
                "Failed: the container puller ended with exit code 1: 401 Unauthorized; check the API key in the "
                "Secret that authSecret names; then delete the Job llm to try again"}));
}

Status with_report(std::string_view job, std::string_view data, std::string_view stored = "{}") {
  const test::Parsed object{std::string(job)}, claim{std::string(bound)},
      report(fmt::format(R"({{"data": {}}})", data)), before{std::string(stored)};
  const std::vector<PodFacts> pods = {pod("Running")};
  return cache_status({.name = "llm",
                       .job = object.get(),
                       .claim_name = "llm-pvc",
                       .claim = claim.get(),
                       .pods = pods,
                       .report = report.get(),
                       .stored = before.get()});
}

/// "reason: message" of a cache whose Job has failed, by what its pod and its ConfigMap say.
std::string failure_told(std::vector<PodFacts> pods, std::string_view data) {
  const test::Parsed object{std::string(failed)}, claim{std::string(bound)},
      report(fmt::format(R"({{"data": {}}})", data));
  const Status status = cache_status({.name = "llm",
                                      .job = object.get(),
                                      .claim_name = "llm-pvc",
                                      .claim = claim.get(),
                                      .pods = pods,
                                      .report = report.get()});
  return status.conditions.at(0).reason + ": " + status.conditions.at(0).message;
}

TEST(CacheReport, NamesTheReasonOfAFailure) {
  constexpr std::string_view told = R"({"reason": "ModelNotFound", "message": "404 Not Found: u; check the model"})";
  EXPECT_EQ(
      failure_told({pod("Failed", ended("404 Not Found: u; check the model"))}, told),
      "ModelNotFound: the container puller ended with exit code 1: 404 Not Found: u; check the model; then delete "
      "the Job llm to try again");
  EXPECT_EQ(failure_told({}, told),
            "ModelNotFound: 404 Not Found: u; check the model; then delete the Job llm to try again")
      << "its pods are gone";
  for (const char* odd : {"{}", R"({"reason": "Nonsense", "message": "m"})", R"({"reason": "Stopped"})",
                          R"({"reason": "Bad/", "message": "m"})", R"({"reason": 7, "message": "m"})"})
    EXPECT_TRUE(failure_told({pod("Failed", ended("x"))}, odd).starts_with("DownloadFailed: ")) << odd;
  EXPECT_TRUE(failure_told({pod("Failed", Problem{"OutOfMemory", "m", false})}, told).starts_with("OutOfMemory: "))
      << "the node knows better";
}

TEST(CacheReport, IsReadOnceTheDownloadRuns) {
  const Status status = with_report(
      active,
      R"({"downloadedBytes": "50", "totalBytes": "200", "profiles": "[{\"name\": \"fp8\", \"release\": \"1.8\", \"model\": \"llm\", \"config\": {\"tp\": \"8\", \"odd\": 7}}, {\"release\": \"x\"}, 7]"})");
  ASSERT_TRUE(status.progress);
  EXPECT_EQ(status.progress->downloaded_bytes, 50);
  EXPECT_EQ(status.progress->total_bytes, 200);
  ASSERT_EQ(status.profiles.size(), 1U);
  EXPECT_EQ(status.profiles[0].release, "1.8");
  EXPECT_EQ(status.profiles[0].config, (std::map<std::string, std::string>{{"tp", "8"}}));
  EXPECT_FALSE(with_report(suspended, R"({"downloadedBytes": "50"})").progress);
}

TEST(CacheReport, ThatIsNonsenseSaysNothing) {
  for (const std::string_view data :
       {"{}", "7", R"({"downloadedBytes": 50})", R"({"downloadedBytes": "-1"})", R"({"downloadedBytes": "5 GB"})",
        R"({"downloadedBytes": "99999999999999999999"})", R"({"profiles": "[{"})", R"({"profiles": "{}"})"}) {
    const Status status = with_report(active, data);
    EXPECT_FALSE(status.progress) << data;
    EXPECT_TRUE(status.profiles.empty()) << data;
  }
  EXPECT_EQ(with_report(active, R"({"downloadedBytes": "5", "totalBytes": "much"})").progress->total_bytes, 0);
}

TEST(CacheReport, ThatWasDeletedDoesNotUndoTheDownload) {
  constexpr std::string_view stored =
      R"({"progress": {"downloadedBytes": 200, "totalBytes": 200, "percent": 100}, "profiles": [{"name": "fp8"}]})";
  const Status ready = with_report(complete, "{}", stored);
  EXPECT_EQ(ready.progress.value().downloaded_bytes, 200);
  EXPECT_EQ(ready.profiles.at(0).name, "fp8");
  EXPECT_FALSE(with_report(active, "{}", stored).progress) << "another download is another story";
}

TEST(CacheClaims, ThatNobodyMakesAreWaitedFor) {
  const test::Parsed job{std::string(active)};
  const Status status = cache_status({.name = "llm", .job = job.get(), .claim_name = "shared", .claim_missing = true});
  EXPECT_EQ(status.state, State::pending);
  EXPECT_EQ(status.conditions.at(0).reason, "ClaimNotFound");
}

}  // namespace caches
}  // namespace stackgate::reconcile::tests
