#include "services/customizer/runs/cluster/seen_objects.hpp"

#include <fmt/format.h>
#include <gmock/gmock.h>

#include "services/customizer/objects/names.hpp"
#include "services/customizer/runs/cluster/stage_writes.hpp"
#include "tests/customizer/objects/objects_support.hpp"
#include "tests/support/parsed.hpp"

namespace stackgate::customizer {
namespace {

using StageObjects = StageSight::Objects;
using test::Parsed;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;

const std::string id = "cust-1a2b3c4d5e6f";

Work work(std::array<std::uint32_t, 3> attempts) {
  Work out;
  out.job = tests::full_job();
  out.stored.job.id = id;
  for (std::size_t i = 0; i < attempts.size(); ++i) out.stored.job.stages.at(i).attempts = attempts.at(i);
  return out;
}

KeptPtr put(ObjectStore::Objects& to, Kind kind, const std::string& name, const std::string& status,
            const std::string& stage = "", int attempt = 1, const std::string& metadata = "") {
  const Parsed object(fmt::format(
      R"({{"metadata":{{"name":"{}","uid":"u","labels":{{"stackgate.dev/customization":"{}","stackgate.dev/stage":"{}","stackgate.dev/attempt":"{}"}}{}}},"status":{{{}}}}})",
      name, id, stage, attempt, metadata, status));
  to.push_back(keep(kind, *object));
  return to.back();
}

const std::string is_complete = R"("conditions":[{"type":"Complete","status":"True"}])";
const std::string runs_status = R"("phase":"Running","conditions":[{"type":"Ready","status":"True"}])";
const std::string is_ending = R"(,"deletionTimestamp":"2026-11-26T21:00:00Z")";

TEST(SeenObjects, are_those_of_the_newest_attempt) {
  ObjectStore::Objects own;
  put(own, Kind::claim, id, R"("phase":"Bound")");
  put(own, Kind::job, id + "-download-1", is_complete);
  put(own, Kind::volcano_job, id + "-training-1", R"("state":{"phase":"Failed"})");
  put(own, Kind::volcano_job, id + "-training-2", R"("state":{"phase":"Running"})");
  put(own, Kind::pod, id + "-training-1-trainer-0", R"("phase":"Failed")", "training", 1);
  put(own, Kind::pod, id + "-training-2-trainer-0", runs_status, "training", 2);
  Work of = work({1, 2, 0});
  of.job.target.uri = {};
  const Seen seen = seen_of(of, tests::full_setup(Scheduler::volcano), own, {});
  EXPECT_TRUE(seen.workspace && seen.leftovers);
  EXPECT_EQ(seen.stages[0].state, State::completed);
  EXPECT_EQ(seen.stages[1].state, State::running);
  EXPECT_EQ(seen.stages[2].objects, StageObjects::absent);
}

TEST(SeenObjects, of_the_model_belong_to_the_download) {
  ObjectStore::Objects own, model;
  const JobSetup setup = tests::full_setup(Scheduler::kai);
  const Work of = work({1, 0, 0});
  put(own, Kind::job, id + "-download-1", is_complete);
  EXPECT_EQ(seen_of(of, setup, own, model).stages[0].objects, StageObjects::absent) << "the model's is gone";
  put(model, Kind::job, model_job_name(of.job.target, setup.model_claim.name), "");
  put(model, Kind::pod, model_job_name(of.job.target, setup.model_claim.name) + "-x", runs_status);
  EXPECT_EQ(seen_of(of, setup, own, model).stages[0].state, State::running);
}

TEST(SeenObjects, wait_for_pods_whose_job_was_deleted) {
  ObjectStore::Objects own;
  const JobSetup setup = tests::full_setup(Scheduler::plain);
  const auto training = [&] { return seen_of(work({1, 1, 0}), setup, own, {}).stages[1]; };
  put(own, Kind::job, id + "-training-1", "", "training", 1, is_ending);
  EXPECT_EQ(training().objects, StageObjects::absent);
  put(own, Kind::pod, id + "-training-1-x", runs_status, "training");
  EXPECT_EQ(training().state, State::running);
  EXPECT_THAT(training().message, HasSubstr("pods are ending"));
  own.erase(own.begin());
  EXPECT_EQ(training().state, State::running) << "also when the Job itself is gone";
  own.clear();
  put(own, Kind::pod, id + "-training-1-x", R"("phase":"Failed")", "training");
  EXPECT_EQ(training().objects, StageObjects::absent);
}

TEST(SeenObjects, are_no_leftovers_once_they_are_being_deleted) {
  ObjectStore::Objects own;
  put(own, Kind::claim, id, "", "", 1, is_ending);
  put(own, Kind::pod, id + "-x", "");
  const Seen seen = seen_of(work({1, 1, 1}), tests::full_setup(Scheduler::plain), own, {});
  EXPECT_FALSE(seen.leftovers || seen.workspace);
}

TEST(SeenObjects, show_why_pods_are_refused) {
  ObjectStore::Objects own;
  put(own, Kind::job, id + "-training-1", "");
  const Parsed event(fmt::format(
      R"({{"metadata":{{"name":"e"}},"involvedObject":{{"name":"{0}-training-1"}},"reason":"FailedCreate","message":"Error creating: pods \"x\" is forbidden: exceeded quota: gpus"}})",
      id));
  const Parsed other(fmt::format(
      R"({{"metadata":{{"name":"f"}},"involvedObject":{{"name":"{0}-training-10"}},"reason":"FailedCreate","message":"of another attempt"}})",
      id));
  own.push_back(keep(Kind::event, *other));
  const auto message = [&] {
    return seen_of(work({1, 1, 0}), tests::full_setup(Scheduler::plain), own, {}).stages[1].message;
  };
  EXPECT_THAT(message(), testing::Not(HasSubstr("another attempt")));
  own.push_back(keep(Kind::event, *event));
  EXPECT_THAT(message(), HasSubstr("the namespace's quota does not allow its pods: gpus"));
}

std::vector<std::string> names(const auto& objects) {
  std::vector<std::string> out;
  for (const auto& each : objects) out.push_back(fmt::format("{} {}", each.type.plural, each.name));
  return out;
}

TEST(StageWrites, begin_with_the_claim_and_end_with_the_job) {
  const JobSetup setup = tests::full_setup(Scheduler::kai);
  const auto of = [&](Stage stage) {
    return names(objects_of_stage(work({1, 2, 1}), stage, setup, tests::full_defaults(), tests::addresses(), {}));
  };
  EXPECT_EQ(of(Stage::download).front(), "persistentvolumeclaims " + id);
  EXPECT_EQ(of(Stage::download).back(), "jobs " + id + "-download-1");
  EXPECT_EQ(of(Stage::training).back(), "jobs " + id + "-training-2");
  EXPECT_EQ(of(Stage::upload).back(), "jobs " + id + "-upload-1");
}

TEST(StageWrites, upload_where_the_training_was) {
  ObjectStore::Objects own;
  const Parsed pod(fmt::format(
      R"({{"metadata":{{"name":"{0}-training-1-x","labels":{{"stackgate.dev/stage":"training","stackgate.dev/attempt":"1"}}}},"spec":{{"nodeName":"node-7"}},"status":{{"phase":"Succeeded"}}}})",
      id));
  own.push_back(keep(Kind::pod, *pod));
  const auto written = objects_of_stage(work({1, 1, 1}), Stage::upload, tests::full_setup(Scheduler::kai),
                                        tests::full_defaults(), tests::addresses(), own);
  EXPECT_THAT(written.back().body, HasSubstr(R"("values":["node-7"])"));
}

TEST(StageWrites, delete_all_that_was_made_the_claim_last) {
  ObjectStore::Objects own;
  put(own, Kind::claim, id, "");
  put(own, Kind::job, id + "-download-1", is_complete);
  put(own, Kind::job, id + "-training-1", is_complete, "training", 1, is_ending);
  Work of = work({1, 2, 1});
  of.job.option.num_nodes = 2;
  EXPECT_THAT(names(objects_to_delete(of, tests::full_setup(Scheduler::kai), own)),
              ElementsAre("jobs " + id + "-download-1", "configmaps " + id + "-upload-1",
                          "services " + id + "-training-1", "services " + id + "-training-2", "configmaps " + id,
                          "secrets " + id, "persistentvolumeclaims " + id));
}

TEST(StageWrites, delete_nothing_of_others) {
  ObjectStore::Objects own;
  const Parsed foreign("{\"metadata\":{\"name\":\"" + id + "-training-1\",\"uid\":\"f\"}}");
  own.push_back(keep(Kind::job, *foreign));
  for (const NamedObject& each : objects_to_delete(work({1, 1, 0}), tests::full_setup(Scheduler::kai), own))
    EXPECT_EQ(each.kept, nullptr) << each.name;
}

TEST(StageWrites, that_are_refused_for_good_have_a_sentence) {
  const PlannedObject job{types::volcano_jobs, "cust-1", "{}"};
  const auto answer = [](int code) {
    return kube::ApiError{.failure = kube::Failure::answered, .code = code, .reason = "x", .message = "why"};
  };
  EXPECT_THAT(lasting_refusal(job, answer(404)), HasSubstr("does not serve jobs.batch.volcano.sh"));
  EXPECT_THAT(lasting_refusal(job, answer(422)), HasSubstr("refuses jobs.batch.volcano.sh cust-1: why"));
  for (const int code : {409, 429, 500, 503}) EXPECT_THAT(lasting_refusal(job, answer(code)), IsEmpty()) << code;
  EXPECT_THAT(lasting_refusal(job, {.failure = kube::Failure::timed_out, .message = "why"}), IsEmpty());
}

TEST(StageWrites, that_a_quota_refuses_are_tried_again) {
  const PlannedObject claim{kube::types::persistent_volume_claims, "cust-1", "{}"};
  const auto answer = [](const char* message) {
    return kube::ApiError{.failure = kube::Failure::answered, .code = 403, .reason = "Forbidden", .message = message};
  };
  const auto full = answer("persistentvolumeclaims \"cust-1\" is forbidden: exceeded quota: team, requested: x=1");
  EXPECT_EQ(quota_refusal(claim, full),
            "the namespace's quota does not allow persistentvolumeclaims now: exceeded quota: team, requested: x=1");
  EXPECT_THAT(lasting_refusal(claim, full), IsEmpty());
  const auto uncounted = answer("persistentvolumeclaims \"cust-1\" is forbidden: status unknown for quota: team");
  EXPECT_THAT(quota_refusal(claim, uncounted), HasSubstr("status unknown for quota: team"));
  EXPECT_THAT(quota_refusal(claim, answer("no rights")), IsEmpty());
  EXPECT_THAT(lasting_refusal(claim, answer("no rights")), HasSubstr("no rights"));
}

}  // namespace
}  // namespace stackgate::customizer
