#include "services/trainer/config/schedule.hpp"

#include <gtest/gtest.h>

namespace stackgate::trainer {
namespace {

model::Hyperparameters scheduled(model::Scheduler scheduler, double warmup) {
  model::Hyperparameters out;
  out.learning_rate = 1;
  out.lr_scheduler = scheduler;
  out.warmup_ratio = warmup;
  return out;
}

// transformers.get_*_schedule_with_warmup(num_warmup_steps=2, num_training_steps=10)
TEST(Schedule, rises_over_the_warmup_and_falls_by_its_curve) {
  const struct {
    model::Scheduler scheduler;
    double at[10];
  } table[] = {
      {model::Scheduler::linear, {0, 0.5, 1, 0.875, 0.75, 0.625, 0.5, 0.375, 0.25, 0.125}},
      {model::Scheduler::cosine,
       {0, 0.5, 1, 0.96193976625, 0.85355339059, 0.69134171618, 0.5, 0.30865828381, 0.14644660940, 0.03806023374}},
      {model::Scheduler::constant, {0, 0.5, 1, 1, 1, 1, 1, 1, 1, 1}},
  };
  for (const auto& row : table)
    for (std::uint64_t step = 0; step < 10; ++step)
      EXPECT_NEAR(learning_rate(scheduled(row.scheduler, 0.2), step, 10), row.at[step], 1e-10) << step;
}

TEST(Schedule, without_warmup_begins_at_the_top) {
  EXPECT_EQ(learning_rate(scheduled(model::Scheduler::cosine, 0), 0, 10), 1);
  EXPECT_EQ(learning_rate(scheduled(model::Scheduler::linear, 0), 0, 1), 1);
}

TEST(Schedule, a_part_of_a_step_of_warmup_is_a_whole_one) {
  EXPECT_EQ(learning_rate(scheduled(model::Scheduler::linear, 0.03), 0, 10), 0);
  EXPECT_EQ(learning_rate(scheduled(model::Scheduler::linear, 0.03), 1, 10), 1);
}

TEST(Schedule, counts_steps) {
  model::Hyperparameters p;
  p.batch_size = 4;
  EXPECT_EQ(steps_of(p, 10).per_epoch, 3U);
  EXPECT_EQ(steps_of(p, 10).total, 3U) << "one epoch";
  p.num_epochs = 5;
  EXPECT_EQ(steps_of(p, 10).total, 15U);
  p.max_steps = 7;
  EXPECT_EQ(steps_of(p, 10).total, 7U);
  p.max_steps = 70;
  EXPECT_EQ(steps_of(p, 10).total, 15U);
  p.num_epochs.reset();
  EXPECT_EQ(steps_of(p, 10).total, 70U) << "over the data as often as it takes";
}

}  // namespace
}  // namespace stackgate::trainer
