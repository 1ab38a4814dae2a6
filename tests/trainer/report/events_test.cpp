#include "services/trainer/report/events.hpp"

#include <gtest/gtest.h>

namespace stackgate::trainer {
namespace {

TEST(Events, are_one_object_a_line) {
  EXPECT_EQ(event_text(Started{.parameters = 1,
                               .trainable_parameters = 2,
                               .examples = 3,
                               .tokens = 4,
                               .max_steps = 5,
                               .num_epochs = 2.5},
                       "j1"),
            R"({"event":"start","job_id":"j1","parameters":1,"trainable_parameters":2,"examples":3,"tokens":4,)"
            R"("truncated":0,"skipped":0,"max_steps":5,"num_epochs":2.5})");
  EXPECT_EQ(event_text(Stepped{.step = 1,
                               .max_steps = 4,
                               .epoch = 0.5,
                               .loss = 1.25,
                               .learning_rate = 0.001,
                               .grad_norm = 2,
                               .tokens_per_second = 10.04,
                               .memory = 7,
                               .eta_seconds = 3.2},
                       ""),
            R"({"event":"step","step":1,"max_steps":4,"epoch":0.5,"loss":1.25,"learning_rate":0.001,"grad_norm":2,)"
            R"("tokens_per_second":10,"memory_bytes":7,"eta_seconds":3,"percentage_done":25})");
  EXPECT_EQ(validation_text(3, 0.5, ""), R"({"event":"validation","step":3,"val_loss":0.5})");
  EXPECT_EQ(checkpoint_text(3, "a/b", ""), R"({"event":"checkpoint","step":3,"path":"a/b"})");
  EXPECT_EQ(event_text(Finished{.train_loss = 1.5, .path = "p", .archive = "p.tar.gz", .sha256 = "00"}, ""),
            R"({"event":"done","train_loss":1.5,"path":"p","archive":"p.tar.gz","sha256":"00"})");
  EXPECT_EQ(event_text(Failed{.message = "no \"x\"", .file = "t.jsonl", .line = 3}, ""),
            R"({"event":"error","message":"no \"x\"","file":"t.jsonl","line":3})");
}

TEST(Events, the_bar_fits_the_terminal) {
  const Stepped step{.step = 5, .max_steps = 10, .loss = 1.23456, .tokens_per_second = 1234, .eta_seconds = 65};
  EXPECT_EQ(bar(step, 100), "[##########..........]  50 %  step 5 of 10  loss 1.2346  1234 tokens/s  1:05 left");
  EXPECT_EQ(bar(step, 10).size(), 10U);
}

}  // namespace
}  // namespace stackgate::trainer
