#include "services/customizer/observe/sight.hpp"

#include <deque>

#include <gmock/gmock.h>

#include "tests/support/parsed.hpp"

namespace stackgate::customizer {
namespace {

using Objects = StageSight::Objects;
using test::Parsed;
using testing::HasSubstr;

/// Texts of objects; "" is none.
struct Given {
  const char* name;
  Stage stage = Stage::training;
  Scheduler scheduler = Scheduler::plain;
  std::string job_status{};  // members of the Job's status
  std::string job_spec{};
  std::string pod_group{}, workload{};  // status
  std::vector<std::string> pods{}, events{};
  State state{};
  std::string message{};
  bool may_retry = false;
};

std::string status(const std::string& members) { return "{\"status\":{" + members + "}}"; }

StageSight see(const Given& given) {
  std::deque<Parsed> held;
  const auto hold = [&](std::string text) { return held.emplace_back(std::move(text)).get(); };
  StageObjects objects{.id = "cust-1", .stage = given.stage, .scheduler = given.scheduler, .queue = "research"};
  if (given.scheduler == Scheduler::plain) objects.queue = "";
  objects.job =
      hold(R"({"metadata":{"name":"cust-1-training-1","labels":{"stackgate.dev/customization":"cust-1"}},"spec":{)" +
           given.job_spec + "},\"status\":{" + given.job_status + "}}");
  if (!given.pod_group.empty()) objects.pod_group = hold(status(given.pod_group));
  if (!given.workload.empty()) objects.workload = hold(status(given.workload));
  for (const std::string& each : given.pods) objects.pods.push_back(hold(each));
  for (const std::string& each : given.events) objects.events.push_back(hold(each));
  return sight_of(objects);
}

std::string pod(const std::string& members, const std::string& spec = R"("restartPolicy":"Never")") {
  return R"({"metadata":{"name":"p"},"spec":{)" + spec + "},\"status\":{" + members + "}}";
}
std::string failed_pod(int code, const std::string& message) {
  return pod(R"("phase":"Failed","containerStatuses":[{"name":"trainer","state":{"terminated":{"exitCode":)" +
             std::to_string(code) + R"(,"reason":"Error","message":")" + message + R"("}}}])");
}
/// As KAI, and Run:ai, of which it is a part, evict: github.com/NVIDIA/KAI-Scheduler, pkg/scheduler/cache/evictor.
std::string evicted_pod(const std::string& members) {
  return R"({"metadata":{"name":"p","deletionTimestamp":"2026-11-20T10:00:00Z"},"spec":{},"status":{)" + members +
         R"(,"conditions":[{"type":"DisruptionTarget","status":"True","reason":"PreemptionByScheduler","message":"Job team/x was reclaimed by a job of a queue under its quota."}]}})";
}
std::string deleted_pod(int code) {
  return R"({"metadata":{"name":"p","deletionTimestamp":"2026-11-20T10:00:00Z"},"spec":{},"status":{"phase":"Failed","containerStatuses":[{"name":"trainer","state":{"terminated":{"exitCode":)" +
         std::to_string(code) + "}}}]}}";
}
const std::string running_pod = pod(
    R"("phase":"Running","conditions":[{"type":"Ready","status":"True"}],"containerStatuses":[{"name":"trainer","ready":true,"state":{"running":{}}}])",
    R"("nodeName":"node-7")");
const std::string unplaced_pod = pod(
    R"("phase":"Pending","conditions":[{"type":"PodScheduled","status":"False","reason":"Unschedulable","message":"0/4 nodes are available: 4 Insufficient nvidia.com/gpu."}])",
    R"("containers":[{"resources":{"requests":{"nvidia.com/gpu":"1"}}}])");
const std::string silent_pod = pod(R"("phase":"Pending")");
const std::string no_image_pod = pod(
    R"("phase":"Pending","conditions":[{"type":"PodScheduled","status":"True"}],"containerStatuses":[{"name":"trainer","image":"r/t:1","state":{"waiting":{"reason":"ErrImagePull","message":"rpc error: manifest unknown"}}}])",
    R"("nodeName":"node-7")");

std::string event(const std::string& reason, const std::string& message,
                  const std::string& time = "2026-11-20T10:00:00Z") {
  return R"({"reason":")" + reason + R"(","message":")" + message + R"(","lastTimestamp":")" + time + R"("})";
}

class Statuses : public testing::TestWithParam<Given> {};

TEST_P(Statuses, are_read) {
  const StageSight found = see(GetParam());
  EXPECT_EQ(found.objects, Objects::there);
  EXPECT_EQ(found.state, GetParam().state) << found.message;
  EXPECT_EQ(found.message, GetParam().message);
  EXPECT_EQ(found.may_retry, GetParam().may_retry);
}

constexpr auto volcano = Scheduler::volcano;
constexpr auto kueue = Scheduler::kueue;

// https://volcano.sh/en/docs/vcjob/ (phases), https://volcano.sh/en/docs/podgroup/ and Volcano's
// docs/design/scheduling-reason.md (conditions); the messages are those of Volcano 1.0, 1.6 and 1.9.
INSTANTIATE_TEST_SUITE_P(
    Volcano, Statuses,
    testing::ValuesIn(std::vector<Given>{
        {.name = "no_room_for_three",
         .scheduler = volcano,
         .job_status = R"("state":{"phase":"Pending"})",
         .pod_group =
             R"("phase":"Pending","conditions":[{"type":"Unschedulable","status":"True","reason":"NotEnoughResources",
           "lastTransitionTime":"2022-12-01T04:48:19Z","message":"3/3 tasks in gang unschedulable: pod group is not ready, 3 Pending, 3 minAvailable; Pending: 3 Undetermined"}])",
         .state = State::pending,
         .message = "the queue research has no room for all 3 of its pods at once"},
        {.name = "no_room_and_the_pods_tell_for_what",
         .scheduler = volcano,
         .job_status = R"("state":{"phase":"Pending"})",
         .pod_group =
             R"("phase":"Inqueue","conditions":[{"type":"Unschedulable","status":"True","reason":"NotEnoughResources",
           "message":"2/2 tasks in gang unschedulable: pod group is not ready, 2 Pending, 2 minAvailable"}])",
         .pods = {unplaced_pod, unplaced_pod},
         .state = State::pending,
         .message = "the queue research has no room for all 2 of its pods at once; no node has 1 nvidia.com/gpu free"},
        {.name = "origin_of_newer_versions",
         .scheduler = volcano,
         .job_status = R"("state":{"phase":"Pending"})",
         .pod_group =
             R"("phase":"Inqueue","conditions":[{"type":"Unschedulable","status":"True","reason":"NotEnoughResources",
           "message":"1/1 tasks in gang unschedulable: pod group is not ready, 1 Pending, 1 minAvailable; Pending: 1 Unschedulable. Origin reason is job-trainer-0: 0/4 nodes are unavailable: 4 Insufficient nvidia.com/gpu."}])",
         .state = State::pending,
         .message =
             "the queue research has no room for its pod: 0/4 nodes are unavailable: 4 Insufficient nvidia.com/gpu"},
        {.name = "counts_of_older_versions",
         .scheduler = volcano,
         .job_status = R"("state":{"phase":"Pending"})",
         .pod_group =
             R"("phase":"Inqueue","conditions":[{"type":"Unschedulable","status":"True","reason":"NotEnoughResources",
           "message":"1/0 tasks in gang unschedulable: pod group is not ready, 1 minAvailable."}])",
         .state = State::pending,
         .message = "the queue research has no room for its pods"},
        {.name = "not_taken_in",
         .scheduler = volcano,
         .job_status = R"("state":{"phase":"Pending"})",
         .pod_group = R"("phase":"Pending")",
         .state = State::pending,
         .message =
             "the queue research has not taken it in yet: what the queue may use is in use, or the queue is closed"},
        {.name = "placed_later",
         .scheduler = volcano,
         .job_status = R"("state":{"phase":"Pending"})",
         .pod_group =
             R"("phase":"Inqueue","conditions":[{"type":"Unschedulable","status":"True","lastTransitionTime":"2020-08-11T12:28:57Z","message":"1/0 tasks"},
           {"type":"Scheduled","status":"True","lastTransitionTime":"2020-08-11T12:29:02Z","reason":"tasks in gang are ready to be scheduled"}])",
         .pods = {no_image_pod},
         .state = State::pending,
         .message = "the image r/t:1 cannot be pulled: the registry has no such image; check its name and tag"},
        {.name = "nobody_looked",
         .scheduler = volcano,
         .state = State::pending,
         .message = "Volcano has not looked at it yet; are its controllers running?"},
        {.name = "quota_of_the_namespace",
         .scheduler = volcano,
         .job_status = R"("state":{"phase":"Pending"})",
         .events = {event(
             "FailedCreate",
             R"(Error creating: pods \"x-0\" is forbidden: exceeded quota: gpus, requested: requests.nvidia.com/gpu=1, used: 4, limited: 4)")},
         .state = State::pending,
         .message = "the namespace's quota does not allow its pods: gpus, requested: requests.nvidia.com/gpu=1, used: "
                    "4, limited: 4"},
        {.name = "runs",
         .scheduler = volcano,
         .job_status = R"("state":{"phase":"Running"},"running":1)",
         .pods = {running_pod},
         .state = State::running},
        {.name = "runs_in_part",
         .scheduler = volcano,
         .job_status = R"("state":{"phase":"Running"})",
         .pods = {running_pod, no_image_pod},
         .state = State::pending,
         .message = "1 of 2 pods run: the image r/t:1 cannot be pulled: the registry has no such image; check its name "
                    "and tag"},
        {.name = "restarts",
         .scheduler = volcano,
         .job_status = R"("state":{"phase":"Restarting"},"retryCount":2)",
         .state = State::running,
         .message = "Volcano starts it again (2 times so far)"},
        {.name = "completed",
         .scheduler = volcano,
         .job_status = R"("state":{"phase":"Completed"},"succeeded":1)",
         .state = State::completed},
        {.name = "aborted_since_a_pod_failed",
         .scheduler = volcano,
         .job_status = R"("state":{"phase":"Aborted"})",
         .pods = {failed_pod(2, "train.jsonl:3: is no JSON")},
         .state = State::failed,
         .message = "the container trainer ended with exit code 2: train.jsonl:3: is no JSON"},
        {.name = "aborted_by_somebody",
         .scheduler = volcano,
         .job_status = R"("state":{"phase":"Aborted"})",
         .state = State::failed,
         .message = "the Volcano Job was aborted"},
        {.name = "failed_after_retries",
         .scheduler = volcano,
         .job_status = R"("state":{"phase":"Failed"},"retryCount":3)",
         .pods = {failed_pod(75, "stopped at step 40")},
         .state = State::failed,
         .message = "the container trainer ended with exit code 75: stopped at step 40",
         .may_retry = true},
    }),
    [](const auto& each) { return each.param.name; });

// https://kueue.sigs.k8s.io/docs/tasks/troubleshooting/troubleshooting_jobs/ and docs/concepts/workload.
const std::string suspended = R"("suspend":true)";
INSTANTIATE_TEST_SUITE_P(
    Kueue, Statuses,
    testing::ValuesIn(std::vector<Given>{
        {.name = "quota_in_use",
         .scheduler = kueue,
         .job_spec = suspended,
         .workload = R"("conditions":[{"type":"QuotaReserved","status":"False","reason":"Pending",
           "message":"couldn't assign flavors to pod set main: insufficient unused quota for nvidia.com/gpu in flavor a10, 1 more needed"}])",
         .state = State::pending,
         .message = "it waits in the queue research: couldn't assign flavors to pod set main: insufficient unused "
                    "quota for nvidia.com/gpu in flavor a10, 1 more needed"},
        {.name = "before_jobs_could_be_suspended",
         .scheduler = kueue,
         .workload = R"("conditions":[{"type":"QuotaReserved","status":"False","reason":"Pending","message":"no"}])",
         .state = State::pending,
         .message = "it waits in the queue research: no"},
        {.name = "no_such_queue",
         .scheduler = kueue,
         .job_spec = suspended,
         .workload =
             R"("conditions":[{"type":"QuotaReserved","status":"False","reason":"Inadmissible","message":"LocalQueue research doesn't exist"}])",
         .state = State::pending,
         .message = "the queue research cannot take it: LocalQueue research doesn't exist"},
        {.name = "no_workload",
         .scheduler = kueue,
         .job_spec = suspended,
         .state = State::pending,
         .message = "Kueue has not looked at it yet; it needs a LocalQueue research in the namespace"},
        {.name = "new_workload",
         .scheduler = kueue,
         .job_spec = suspended,
         .workload = R"("conditions":[])",
         .state = State::pending,
         .message = "the queue research has not looked at it yet"},
        {.name = "preempted",
         .scheduler = kueue,
         .job_spec = suspended,
         .workload =
             R"("conditions":[{"type":"Evicted","status":"True","reason":"Preempted","message":"Preempted to accommodate a higher priority Workload"}])",
         .state = State::pending,
         .message = "the queue research has put it back: Preempted to accommodate a higher priority Workload"},
        {.name = "admission_check",
         .scheduler = kueue,
         .job_spec = suspended,
         .workload =
             R"("conditions":[{"type":"QuotaReserved","status":"True"}],"admissionChecks":[{"name":"provisioning","state":"Pending","message":"Waiting for 2 nodes."}])",
         .state = State::pending,
         .message = "the queue research has quota for it, and waits for the admission check provisioning: Waiting for "
                    "2 nodes"},
        {.name = "reserved",
         .scheduler = kueue,
         .job_spec = suspended,
         .workload = R"("conditions":[{"type":"QuotaReserved","status":"True"}])",
         .state = State::pending,
         .message = "the queue research has quota for it, and has not admitted it yet"},
        {.name = "admitted_and_runs",
         .scheduler = kueue,
         .workload = R"("conditions":[{"type":"QuotaReserved","status":"True"},{"type":"Admitted","status":"True"}])",
         .pods = {running_pod},
         .state = State::running},
    }),
    [](const auto& each) { return each.param.name; });

// https://kubernetes.io/docs/concepts/workloads/controllers/job/; KAI Scheduler's and kube-scheduler's events.
INSTANTIATE_TEST_SUITE_P(
    Jobs, Statuses,
    testing::ValuesIn(std::vector<Given>{
        {.name = "no_node",
         .pods = {unplaced_pod},
         .state = State::pending,
         .message = "no node has 1 nvidia.com/gpu free"},
        {.name = "no_node_in_a_queue",
         .scheduler = Scheduler::kai,
         .pods = {unplaced_pod},
         .state = State::pending,
         .message = "it waits in the queue research: no node has 1 nvidia.com/gpu free"},
        {.name = "no_word_of_the_scheduler",
         .scheduler = Scheduler::kai,
         .pods = {silent_pod},
         .state = State::pending,
         .message = "KAI has not looked at it yet; it needs a leaf queue research"},
        {.name = "no_word_in_the_pod",
         .scheduler = Scheduler::runai,
         .pods = {silent_pod},
         .events = {event("FailedScheduling", "old", "2026-11-20T09:00:00Z"),
                    event("FailedScheduling", "Workload requested 4 GPUs, but research quota is 2 GPUs.")},
         .state = State::pending,
         .message = "it waits in the queue research: Workload requested 4 GPUs, but research quota is 2 GPUs"},
        {.name = "merely_starts",
         .pods = {pod(R"("phase":"Pending","conditions":[{"type":"PodScheduled","status":"True"}])",
                      R"("nodeName":"n")")},
         .state = State::pending},
        {.name = "completed",
         .job_status = R"("conditions":[{"type":"Complete","status":"True"}])",
         .state = State::completed},
        {.name = "stopped_behind_a_checkpoint",
         .job_status = R"("conditions":[{"type":"Failed","status":"True","reason":"BackoffLimitExceeded"}])",
         .pods = {failed_pod(75, "stopped at step 40")},
         .state = State::failed,
         .message = "the container trainer ended with exit code 75: stopped at step 40",
         .may_retry = true},
        {.name = "one_rank_failed_and_the_other_was_stopped",
         .job_status = R"("conditions":[{"type":"Failed","status":"True"}])",
         .pods = {failed_pod(75, "a peer is lost"), failed_pod(1, "loss is not finite at step 7")},
         .state = State::failed,
         .message = "the container trainer ended with exit code 1: loss is not finite at step 7"},
        {.name = "evicted",
         .job_status = R"("conditions":[{"type":"Failed","status":"True"}])",
         .pods = {pod(
             R"("phase":"Failed","reason":"Evicted","message":"The node was low on resource: memory. Threshold x")")},
         .state = State::failed,
         .message = "the pod was evicted: its node ran out of memory",
         .may_retry = true},
        {.name = "evicted_by_its_node_as_newer_ones_write",
         .job_status = R"("conditions":[{"type":"Failed","status":"True"}])",
         .pods = {pod(
             R"("phase":"Failed","reason":"Evicted","message":"The node was low on resource: memory. Threshold x","conditions":[{"type":"DisruptionTarget","status":"True","reason":"TerminationByKubelet","message":"The node was low on resource: memory."}])")},
         .state = State::failed,
         .message = "the pod was evicted: its node ran out of memory",
         .may_retry = true},
        {.name = "its_scheduler_evicts_it",
         .scheduler = Scheduler::runai,
         .pods = {evicted_pod(R"("phase":"Running")")},
         .state = State::running,
         .message = "it is being evicted: Job team/x was reclaimed by a job of a queue under its quota"},
        {.name = "its_scheduler_has_evicted_it_and_it_did_not_end_in_time",
         .scheduler = Scheduler::runai,
         .job_status =
             R"("conditions":[{"type":"Failed","status":"True","message":"Job has reached the specified backoff limit"}])",
         .pods = {evicted_pod(
             R"("phase":"Failed","containerStatuses":[{"name":"trainer","state":{"terminated":{"exitCode":137}}}])")},
         .state = State::failed,
         .message = "its pod was evicted: Job team/x was reclaimed by a job of a queue under its quota",
         .may_retry = true},
        {.name = "one_of_two_evicted_and_the_other_failed_without_it",
         .scheduler = Scheduler::kai,
         .job_status = R"("conditions":[{"type":"Failed","status":"True"}])",
         .pods = {failed_pod(1, "connection reset by peer"), evicted_pod(R"("phase":"Failed")")},
         .state = State::failed,
         .message = "its pod was evicted: Job team/x was reclaimed by a job of a queue under its quota",
         .may_retry = true},
        {.name = "one_failed_and_the_other_was_deleted_with_its_job",
         .job_status = R"("conditions":[{"type":"Failed","status":"True"}])",
         .pods = {deleted_pod(137), failed_pod(1, "loss is not finite at step 7")},
         .state = State::failed,
         .message = "the container trainer ended with exit code 1: loss is not finite at step 7"},
        {.name = "deleted_and_it_did_not_end_in_time",
         .job_status = R"("conditions":[{"type":"Failed","status":"True"}])",
         .pods = {deleted_pod(137)},
         .state = State::failed,
         .message = "its pod was deleted",
         .may_retry = true},
        {.name = "too_long",
         .job_status = R"("conditions":[{"type":"Failed","status":"True"}])",
         .pods = {pod(
             R"("phase":"Failed","reason":"DeadlineExceeded","message":"Pod was active on the node longer than the specified deadline")")},
         .state = State::failed,
         .message = "it took longer than it may (timeout)"},
        {.name = "pods_are_gone",
         .job_status =
             R"("conditions":[{"type":"Failed","status":"True","message":"Job has reached the specified backoff limit"}])",
         .state = State::failed,
         .message = "Job has reached the specified backoff limit",
         .may_retry = true},
        {.name = "puller_without_answer",
         .stage = Stage::download,
         .job_status = R"("conditions":[{"type":"Failed","status":"True"}])",
         .pods = {failed_pod(1, "no answer from http://datastore:8000")},
         .state = State::failed,
         .message = "the container trainer ended with exit code 1: no answer from http://datastore:8000",
         .may_retry = true},
        {.name = "puller_refused",
         .stage = Stage::download,
         .job_status = R"("conditions":[{"type":"Failed","status":"True"}])",
         .pods = {failed_pod(3, "401 Unauthorized")},
         .state = State::failed,
         .message = "the container trainer ended with exit code 3: 401 Unauthorized"},
        {.name = "out_of_memory",
         .job_status = R"("conditions":[{"type":"Failed","status":"True"}])",
         .pods = {pod(
             R"("phase":"Failed","containerStatuses":[{"name":"trainer","state":{"terminated":{"exitCode":137,"reason":"OOMKilled"}}}])")},
         .state = State::failed,
         .message =
             "the container trainer ran out of memory (exit code 137); it has no limit, so the node itself ran out"},
    }),
    [](const auto& each) { return each.param.name; });

TEST(Sight, of_nothing_is_absent) { EXPECT_EQ(sight_of({.id = "cust-1"}).objects, Objects::absent); }

TEST(Sight, of_a_name_that_somebody_else_took_is_foreign) {
  const Parsed job(R"({"metadata":{"name":"cust-1-training-1","labels":{"stackgate.dev/customization":"cust-2"}}})");
  const StageSight found = sight_of({.id = "cust-1", .stage = Stage::training, .job = job.get()});
  EXPECT_EQ(found.objects, Objects::foreign);
  EXPECT_THAT(found.message, HasSubstr("there is a Job cust-1-training-1 that is not this customization's"));
}

/// The dataset's and the model's Job, each by its condition; "": it runs; "-": it is not there.
StageSight download(const std::string& dataset, const std::string& model) {
  const auto text = [](const std::string& condition) {
    return R"({"metadata":{"name":"j","labels":{"stackgate.dev/customization":"cust-1"}},"status":{"conditions":[{"type":")" +
           condition + R"(","status":"True","message":"why"}]}})";
  };
  const Parsed dataset_job(text(dataset)), model_job(text(model)), pod(running_pod);
  StageObjects objects{.id = "cust-1", .needs_model = true};
  if (dataset != "-") objects.job = dataset_job.get();
  if (model != "-") objects.model_job = model_job.get();
  objects.pods = objects.model_pods = {pod.get()};
  return sight_of(objects);
}

TEST(Sight, of_a_download_is_that_of_both_Jobs) {
  EXPECT_EQ(download("Complete", "Complete").state, State::completed);
  EXPECT_EQ(download("Complete", "").state, State::running);
  EXPECT_EQ(download("", "Complete").state, State::running);
  EXPECT_EQ(download("Complete", "Failed").message, "the model: why");
  EXPECT_EQ(download("Failed", "").message, "the dataset: why");
  EXPECT_EQ(download("Complete", "-").objects, Objects::absent) << "nobody knows how it ended: it is made anew";
  EXPECT_EQ(download("", "-").state, State::running) << "its time to live is over";
  EXPECT_EQ(download("-", "Complete").objects, Objects::absent);
}

TEST(Sight, knows_the_node) {
  const Parsed first(silent_pod), second(running_pod);
  EXPECT_EQ(node_of({first.get(), second.get()}), "node-7");
  EXPECT_EQ(node_of({first.get()}), "");
}

TEST(Sight, knows_a_model_that_has_to_be_made_anew) {
  const Parsed failed(R"({"status":{"conditions":[{"type":"Failed","status":"True"}]}})"), fine(R"({"status":{}})");
  EXPECT_TRUE(has_failed(*failed));
  EXPECT_FALSE(has_failed(*fine));
}

}  // namespace
}  // namespace stackgate::customizer
