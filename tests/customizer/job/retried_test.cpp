#include <gmock/gmock.h>

#include "services/customizer/job/next.hpp"
#include "tests/customizer/job/jobs.hpp"

namespace stackgate::customizer {
namespace {

using Kind = Action::Kind;
using testing::HasSubstr;
using namespace tests;

TEST(Retried, begins_the_failed_stage_and_no_other) {
  Customization job = step(at(Stage::upload, State::running), sees(Stage::upload, there(State::failed, "422"))).job;
  job.trained = true;
  const auto again = retried(job, true, now + 5);
  ASSERT_TRUE(again);
  EXPECT_EQ(again->state, State::pending);
  EXPECT_EQ(again->message, "");
  EXPECT_EQ(again->ended_at, 0);
  const Step found = step(*again, {.now = now + 5});
  EXPECT_EQ(found.action, (Action{Kind::create, Stage::upload}));
  EXPECT_EQ(found.job.stage(Stage::upload).attempts, 2U);
  EXPECT_EQ(found.job.stage(Stage::training), job.stage(Stage::training));
}

TEST(Retried, has_its_attempts_anew) {
  Customization job = at(Stage::training, State::running);
  job.stage(Stage::training).failures = 10;
  job = step(job, sees(Stage::training, there(State::failed, "node lost", true))).job;
  ASSERT_EQ(job.state, State::failed);
  EXPECT_EQ(retried(job, true, now)->stage(Stage::training).failures, 0U);
}

TEST(Retried, is_refused_where_it_makes_no_sense) {
  EXPECT_THAT(retried(at(Stage::training, State::running), true, now).error(),
              HasSubstr("is running; only one that has failed"));
  Customization job = step(at(Stage::upload, State::running), sees(Stage::upload, there(State::failed, "422"))).job;
  EXPECT_THAT(retried(job, false, now).error(), HasSubstr("its workspace was removed"));
  job.cleared = true;
  EXPECT_THAT(retried(job, true, now).error(), HasSubstr("its workspace was removed")) << "it is about to be";
  job = step(at(Stage::download, State::running), sees(Stage::download, there(State::failed, "404"))).job;
  job.cleared = true;
  const auto again = retried(job, false, now);
  ASSERT_TRUE(again) << "a download makes its workspace anew";
  EXPECT_FALSE(again->cleared);
}

}  // namespace
}  // namespace stackgate::customizer
