#include "services/customizer/job/progress.hpp"

#include <gmock/gmock.h>

#include "services/trainer/report/events.hpp"

namespace stackgate::customizer {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;
using Point = ReportChange::Point;

ReportChange fold(Progress& progress, std::string_view event) {
  ReportChange change = apply_report(progress, event, "cust-1");
  EXPECT_EQ(change.problem, "");
  return change;
}

/// What the trainer writes.
std::string stepped(std::uint64_t step, double loss) {
  return event_text(trainer::Stepped{.step = step,
                                     .max_steps = 10,
                                     .epoch = 0.5,
                                     .loss = loss,
                                     .learning_rate = 1e-4,
                                     .tokens_per_second = 1234.56,
                                     .eta_seconds = 7},
                    "cust-1");
}

TEST(Progress, follows_what_the_trainer_reports) {
  Progress progress;
  fold(progress,
       event_text(
           trainer::Started{.trainable_parameters = 5, .examples = 40, .tokens = 999, .max_steps = 10, .num_epochs = 2},
           "cust-1"));
  EXPECT_EQ(progress.max_steps, 10U);
  EXPECT_EQ(progress.examples, 40U);
  EXPECT_THAT(fold(progress, stepped(3, 2.5)).points,
              ElementsAre(Point{
                  .step = 3, .train_loss = 2.5, .learning_rate = 1e-4, .tokens_per_second = 1234.6, .epoch = 0.5}));
  EXPECT_EQ(progress.percent, 30U);
  EXPECT_DOUBLE_EQ(progress.tokens_per_second, 1234.6);
  EXPECT_THAT(fold(progress, trainer::validation_text(3, 2.25, "cust-1")).points,
              ElementsAre(Point{.step = 3, .val_loss = 2.25}));
  EXPECT_EQ(progress.best_epoch, 0.5);
  const auto end = fold(
      progress,
      event_text(
          trainer::Finished{.train_loss = 1.5, .val_loss = 2, .path = "/o", .archive = "/o.tar.gz", .sha256 = "ab"},
          "cust-1"));
  EXPECT_TRUE(end.trained);
  EXPECT_EQ(progress.percent, 100U);
  EXPECT_EQ(progress.archive, "/o.tar.gz");
  EXPECT_EQ(progress.sha256, "ab");
}

TEST(Progress, counts_each_step_once) {
  Progress progress;
  EXPECT_TRUE(fold(progress, stepped(5, 2)).changed);
  EXPECT_FALSE(fold(progress, stepped(5, 1)).changed);
  EXPECT_THAT(fold(progress, stepped(4, 1)).points, IsEmpty()) << "it goes on from a checkpoint";
  EXPECT_EQ(progress.train_loss, 2);
  EXPECT_TRUE(fold(progress, trainer::validation_text(5, 3, "cust-1")).changed);
  EXPECT_THAT(fold(progress, trainer::validation_text(5, 2, "cust-1")).points, IsEmpty());
  EXPECT_EQ(progress.val_loss, 3);
}

TEST(Progress, is_complete_with_the_adapter_alone) {
  Progress progress;
  fold(progress, stepped(10, 2));
  EXPECT_EQ(progress.percent, 99U);
  fold(progress, event_text(trainer::Started{.max_steps = 1000}, "cust-1"));
  fold(progress, stepped(11, 2));
  EXPECT_EQ(progress.percent, 99U) << "it never goes back";
}

TEST(Progress, keeps_the_trainers_last_words) {
  Progress progress;
  fold(progress, event_text(trainer::Failed{.message = "is no JSON", .file = "train.jsonl", .line = 3}, "cust-1"));
  EXPECT_EQ(progress.error, "train.jsonl:3: is no JSON");
  EXPECT_FALSE(fold(progress, trainer::checkpoint_text(100, "/c", "cust-1")).changed);
}

TEST(Progress, takes_no_loss_that_is_no_number) {
  Progress progress;
  EXPECT_THAT(fold(progress, R"({"event":"step","job_id":"cust-1","step":1,"max_steps":2,"loss":null})").points,
              ElementsAre(Point{.step = 1}));
  EXPECT_FALSE(progress.train_loss);
  fold(progress, R"({"event":"step","job_id":"cust-1","step":-5,"max_steps":-1})");
  EXPECT_EQ(progress.step, 1U);
}

TEST(Progress, refuses_what_is_no_event_of_the_job) {
  Progress progress;
  const auto error = [&](std::string_view text) { return apply_report(progress, text, "cust-1").problem; };
  EXPECT_THAT(error("{"), HasSubstr("is no JSON"));
  EXPECT_THAT(error("[[]]"), HasSubstr("is a JSON object"));
  EXPECT_THAT(error(R"({"event":"step","job_id":"cust-2","step":1})"), HasSubstr("of another job, \"cust-2\""));
  EXPECT_THAT(error(R"({"event":"stop","job_id":"cust-1"})"), HasSubstr("no event \"stop\""));
  EXPECT_EQ(progress, Progress{});
}

TEST(Progress, takes_many_events_at_once) {
  Progress progress;
  const auto body = [](const std::string& between) {
    return "[" + stepped(3, 2.5) + "," + between + trainer::validation_text(3, 2.25, "cust-1") + "," + stepped(4, 2) +
           "," + event_text(trainer::Finished{.train_loss = 2}, "cust-1") + "]";
  };
  const ReportChange change = fold(progress, body(""));
  EXPECT_TRUE(change.changed);
  EXPECT_TRUE(change.trained);
  EXPECT_EQ(change.points.size(), 3U);
  EXPECT_EQ(progress.step, 4U);
  EXPECT_EQ(progress.val_loss, 2.25);
  EXPECT_FALSE(fold(progress, body("")).changed) << "once";
  EXPECT_FALSE(fold(progress, "[]").changed);
  Progress other;
  EXPECT_THAT(apply_report(other, body(R"({"event":"dance","job_id":"cust-1"},)"), "cust-1").problem,
              HasSubstr("no event \"dance\""));
  EXPECT_EQ(other, progress) << "the others count";
}

TEST(Progress, reads_as_it_was_stored) {
  Progress progress;
  fold(progress,
       event_text(
           trainer::Started{.trainable_parameters = 5, .examples = 40, .tokens = 999, .max_steps = 10, .num_epochs = 2},
           "cust-1"));
  fold(progress, stepped(3, 2.5));
  fold(progress, trainer::validation_text(3, 2.25, "cust-1"));
  fold(progress, event_text(trainer::Failed{.message = "m"}, "cust-1"));
  EXPECT_EQ(read_progress(progress_json(progress)), progress);
  EXPECT_EQ(read_progress(""), Progress{});
}

}  // namespace
}  // namespace stackgate::customizer
