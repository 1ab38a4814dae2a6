#include "services/customizer/job/next.hpp"

#include <string>
#include <vector>

#include <gmock/gmock.h>

#include "tests/customizer/job/jobs.hpp"

namespace stackgate::customizer {
namespace {

using Kind = Action::Kind;
using Objects = StageSight::Objects;
using testing::HasSubstr;
using namespace tests;

TEST(Next, begins_with_the_download) {
  const Step found = step({.id = "cust-1"}, {.now = now});
  EXPECT_EQ(found.action, (Action{Kind::create, Stage::download}));
  EXPECT_EQ(found.job.state, State::pending);
  EXPECT_EQ(found.job.stage(Stage::download).attempts, 1U);
  EXPECT_EQ(found.job.stage(Stage::download).created_at, now);
  EXPECT_EQ(found.job.changed_at, now);
}

struct Row {
  const char* name;
  Customization job;
  Observed observed;
  Action action;
  State state;          // of the customization afterwards
  const char* message;  // a part of its message; "" for none
};

class Situations : public testing::TestWithParam<Row> {};

TEST_P(Situations, lead_on) {
  const Row& row = GetParam();
  const Step found = step(row.job, row.observed);
  EXPECT_EQ(found.action.kind, row.action.kind);
  EXPECT_EQ(found.action.stage, row.action.stage);
  EXPECT_EQ(found.job.state, row.state);
  if (*row.message == 0)
    EXPECT_EQ(found.job.message, "");
  else
    EXPECT_THAT(found.job.message, HasSubstr(row.message));
}

Observed adapter(AdapterState state) {
  Observed out = sees(Stage::upload, there(State::completed));
  out.adapter = state;
  return out;
}

Customization unseen(Stage stage) {
  Customization out = at(stage);
  out.stage(stage).seen = false;
  return out;
}

Customization trained(State state) {
  Customization out = at(Stage::training, state);
  out.trained = true;
  return out;
}

Customization asked_to_stop(Stage stage, State state) { return cancelled(at(stage, state), now); }

INSTANTIATE_TEST_SUITE_P(
    Next, Situations,
    testing::ValuesIn(std::vector<Row>{
        {"stored_and_not_created",
         unseen(Stage::download),
         {.now = now},
         {Kind::create, Stage::download},
         State::pending,
         ""},
        {"training_stored_and_not_created",
         unseen(Stage::training),
         {.now = now},
         {Kind::create, Stage::training},
         State::pending,
         ""},
        {"upload_stored_and_not_created",
         unseen(Stage::upload),
         {.now = now},
         {Kind::create, Stage::upload},
         State::pending,
         ""},
        {"created_by_another_replica",
         unseen(Stage::training),
         sees(Stage::training, there(State::running)),
         {Kind::wait, Stage::training},
         State::running,
         ""},
        {"waits_and_says_why",
         at(Stage::training),
         sees(Stage::training, there(State::pending, "queue research: 0 of 2 GPUs are free")),
         {Kind::wait, Stage::training},
         State::pending,
         "queue research: 0 of 2 GPUs"},
        {"runs",
         at(Stage::training),
         sees(Stage::training, there(State::running)),
         {Kind::wait, Stage::training},
         State::running,
         ""},
        {"waits_again_after_it_ran",
         at(Stage::training, State::running),
         sees(Stage::training, there(State::pending, "evicted")),
         {Kind::wait, Stage::training},
         State::pending,
         "evicted"},
        {"downloaded",
         at(Stage::download, State::running),
         sees(Stage::download, there(State::completed)),
         {Kind::create, Stage::training},
         State::pending,
         ""},
        {"trained",
         at(Stage::training, State::running),
         sees(Stage::training, there(State::completed)),
         {Kind::create, Stage::upload},
         State::pending,
         ""},
        {"trained_and_its_objects_gone",
         trained(State::running),
         {.now = now},
         {Kind::create, Stage::upload},
         State::pending,
         ""},
        {"trained_and_the_pod_failed_later",
         trained(State::running),
         sees(Stage::training, there(State::failed, "evicted", true)),
         {Kind::create, Stage::upload},
         State::pending,
         ""},
        {"trained_and_still_ending",
         trained(State::running),
         sees(Stage::training, there(State::running)),
         {Kind::wait, Stage::training},
         State::running,
         ""},
        {"training_lost_goes_on",
         at(Stage::training, State::running),
         {.now = now},
         {Kind::wait, Stage::training},
         State::pending,
         "its objects were deleted in the cluster; it is tried again (1 of 10)"},
        {"download_lost_is_repeated",
         at(Stage::download, State::running),
         {.now = now},
         {Kind::wait, Stage::download},
         State::pending,
         "(1 of 3)"},
        {"training_stopped_behind_a_checkpoint",
         at(Stage::training, State::running),
         sees(Stage::training, there(State::failed, "stopped (exit code 75)", true)),
         {Kind::wait, Stage::training},
         State::pending,
         "stopped (exit code 75); it is tried again (1 of 10)"},
        {"training_failed",
         at(Stage::training, State::running),
         sees(Stage::training, there(State::failed, "loss is not finite at step 7")),
         {Kind::finish, Stage::training},
         State::failed,
         "the training has failed: loss is not finite at step 7"},
        {"download_failed",
         at(Stage::download, State::running),
         sees(Stage::download, there(State::failed, "401 Unauthorized")),
         {Kind::finish, Stage::download},
         State::failed,
         "the download has failed: 401 Unauthorized"},
        {"upload_failed",
         at(Stage::upload, State::running),
         sees(Stage::upload, there(State::failed, "422: no such base model")),
         {Kind::finish, Stage::upload},
         State::failed,
         "the adapter is trained, its upload has failed: 422: no such base model; a retry uploads it without training "
         "again"},
        {"foreign_object",
         at(Stage::training),
         sees(Stage::training,
              {.objects = Objects::foreign, .message = "the Job cust-1-training-1 is not this customization's"}),
         {Kind::finish, Stage::training},
         State::failed,
         "is not this customization's"},
        {"uploaded_and_ready",
         at(Stage::upload, State::running),
         adapter(AdapterState::ready),
         {Kind::finish, Stage::upload},
         State::completed,
         ""},
        {"uploaded_and_not_known_yet",
         at(Stage::upload),
         adapter(AdapterState::unknown),
         {Kind::wait, Stage::upload},
         State::running,
         "stores the adapter"},
        {"uploaded_and_not_approved",
         at(Stage::upload),
         adapter(AdapterState::pending),
         {Kind::wait, Stage::upload},
         State::running,
         "waits for approval"},
        {"uploaded_and_refused",
         at(Stage::upload),
         adapter(AdapterState::failed),
         {Kind::finish, Stage::upload},
         State::failed,
         "has refused the adapter"},
        {"cancel_what_runs",
         asked_to_stop(Stage::training, State::running),
         sees(Stage::training, there(State::running)),
         {Kind::cancel, Stage::training},
         State::cancelling,
         ""},
        {"cancel_what_waits",
         asked_to_stop(Stage::download, State::pending),
         sees(Stage::download, there(State::pending)),
         {Kind::cancel, Stage::download},
         State::cancelling,
         ""},
        {"cancelled_when_nothing_computes",
         asked_to_stop(Stage::training, State::running),
         {.now = now},
         {Kind::finish, Stage::download},
         State::cancelled,
         ""},
        {"cancelled_while_objects_end",
         asked_to_stop(Stage::training, State::running),
         sees(Stage::training, there(State::failed)),
         {Kind::finish, Stage::download},
         State::cancelled,
         ""},
    }),
    [](const auto& each) { return each.param.name; });

TEST(Next, waits_before_it_tries_again_and_then_makes_other_objects) {
  Step found =
      step(at(Stage::upload, State::running), sees(Stage::upload, there(State::failed, "503", true)), {.pause = 10});
  EXPECT_EQ(found.action, (Action{Kind::wait, Stage::upload, now + 10}));
  EXPECT_EQ(step(found.job, {.now = now + 9}).action, (Action{Kind::wait, Stage::upload, now + 10}));
  found = step(found.job, {.now = now + 10});
  EXPECT_EQ(found.action, (Action{Kind::create, Stage::upload}));
  EXPECT_EQ(found.job.stage(Stage::upload).attempts, 2U);
  EXPECT_EQ(found.job.stage(Stage::training).attempts, 1U);
  found = step(found.job, {.now = now + 10});
  EXPECT_EQ(found.action, (Action{Kind::create, Stage::upload}));
  EXPECT_EQ(found.job.stage(Stage::upload).attempts, 2U) << "taking over repeats nothing";
}

TEST(Next, gives_up_after_so_many_attempts) {
  Customization job = at(Stage::download, State::running);
  job.stage(Stage::download).failures = 3;
  const Step found = step(job, sees(Stage::download, there(State::failed, "503", true)));
  EXPECT_EQ(found.job.state, State::failed);
  EXPECT_EQ(found.job.message, "the download has failed: 503 (4 attempts)");
}

TEST(Next, doubles_the_pause_up_to_the_longest) {
  for (const auto& [failures, pause] :
       std::vector<std::pair<std::uint32_t, Seconds>>{{0, 10}, {1, 20}, {4, 160}, {5, 300}, {9, 300}}) {
    Customization job = at(Stage::training, State::running);
    job.stage(Stage::training).failures = failures;
    EXPECT_EQ(step(job, sees(Stage::training, there(State::failed, "x", true))).action.at, now + pause) << failures;
  }
}

TEST(Next, ends_what_waits_too_long_with_the_reason) {
  const Observed waits = sees(Stage::training, there(State::pending, "the queue research has no GPU left"));
  EXPECT_EQ(step(at(Stage::training), waits, {.waiting = 71}).action.at, now + 1);
  const Step found = step(at(Stage::training), waits, {.waiting = 70});
  EXPECT_EQ(found.job.message,
            "the training has failed: it did not start within 1 min 10 s: the queue research has no GPU left");
  EXPECT_EQ(step(found.job, waits).action, (Action{Kind::cancel, Stage::training})) << "what computes is deleted";
  EXPECT_EQ(step(at(Stage::training), waits, {.waiting = 0}).job.state, State::pending);
}

TEST(Next, ends_what_cannot_begin_for_too_long) {
  Customization job = unseen(Stage::training);
  job.stage(Stage::training).message = "it cannot begin yet: full";
  ASSERT_EQ(step(job, {.now = now}, {.waiting = 71}).action, (Action{Kind::create, Stage::training}));
  EXPECT_EQ(step(job, {.now = now}, {.waiting = 70}).job.message,
            "the training has failed: it did not start within 1 min 10 s: it cannot begin yet: full");
}

TEST(Next, counts_the_waiting_anew_where_the_queue_takes_back_what_ran) {
  Step found = step(at(Stage::training, State::running), sees(Stage::training, there(State::pending, "preempted")),
                    {.waiting = 50});
  EXPECT_EQ(found.job.state, State::pending);
  EXPECT_EQ(found.action.at, now + 50);
  Observed later = sees(Stage::training, there(State::pending, "preempted"));
  later.now = now + 50;
  EXPECT_EQ(step(found.job, later, {.waiting = 50}).job.state, State::failed);
}

TEST(Next, ends_what_runs_too_long) {
  struct {
    Stage stage;
    Limits limits;
  } const rows[] = {
      {Stage::download, {.download = 60}}, {Stage::training, {.training = 60}}, {Stage::upload, {.upload = 60}}};
  for (const auto& row : rows) {
    const Observed runs = sees(row.stage, there(State::running));
    EXPECT_THAT(step(at(row.stage, State::running), runs, row.limits).job.message,
                HasSubstr("it took longer than 1 min (timeout)"));
    EXPECT_EQ(step(at(row.stage), runs, row.limits).job.state, State::running) << "it only begins to run now";
  }
}

TEST(Next, limits_a_training_over_all_its_attempts) {
  Customization job = at(Stage::training, State::pending);
  job.stage(Stage::training).attempts = 2;
  job.stage(Stage::training).started_at = now - 60;
  EXPECT_EQ(step(job, sees(Stage::training, there(State::running)), {.training = 60}).job.state, State::failed);
}

TEST(Next, knows_since_when_it_runs) {
  const Step first = step(at(Stage::download), sees(Stage::download, there(State::running)));
  EXPECT_EQ(first.job.started_at, now);
  EXPECT_EQ(first.job.stage(Stage::download).started_at, now);
  Observed later = sees(Stage::download, there(State::running));
  later.now += 5;
  EXPECT_EQ(step(first.job, later).job.started_at, now);
}

TEST(Next, keeps_objects_for_a_time_and_cleans_up_then) {
  Customization job = step(at(Stage::upload), adapter(AdapterState::ready)).job;
  EXPECT_EQ(job.ended_at, now);
  const auto later = [&](Seconds seconds, bool leftovers) {
    return step(job, {.now = now + seconds, .leftovers = leftovers}, {.keep = 100, .keep_failed = 1000}).action;
  };
  EXPECT_EQ(later(99, true).at, now + 100);
  EXPECT_EQ(later(100, true).kind, Kind::clean_up);
  EXPECT_EQ(later(100, false).kind, Kind::nothing);
  job.state = State::failed;
  EXPECT_EQ(later(999, true).kind, Kind::wait);
  EXPECT_EQ(later(1000, true).kind, Kind::clean_up);
}

TEST(Next, stores_that_it_cleans_up_before_it_does) {
  Customization job = step(at(Stage::upload, State::running), sees(Stage::upload, there(State::failed, "422"))).job;
  const auto step_at = [&](Seconds seconds) { return step(job, {.now = now + seconds, .leftovers = true}); };
  const Limits limits{};
  EXPECT_FALSE(step_at(limits.keep_failed - 1).job.cleared);
  const Step cleared = step_at(limits.keep_failed);
  EXPECT_EQ(cleared.action.kind, Kind::clean_up);
  EXPECT_TRUE(cleared.job.cleared);
  EXPECT_EQ(cleared.job.changed_at, job.changed_at) << "nothing of it has changed for whoever reads it";
}

TEST(Next, changes_nothing_of_what_has_ended) {
  for (const State state : {State::completed, State::failed, State::cancelled}) {
    Customization job = at(Stage::training, State::running);
    job.state = state;
    job.ended_at = now;
    EXPECT_EQ(step(job, sees(Stage::training, there(State::completed))).job, job);
    EXPECT_EQ(cancelled(job, now), job);
  }
}

}  // namespace
}  // namespace stackgate::customizer
