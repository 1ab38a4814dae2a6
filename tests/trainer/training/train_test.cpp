#include "services/trainer/training/train.hpp"

#include <filesystem>
#include <fstream>
#include <future>
#include <thread>

#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "services/kit/json/parse.hpp"
#include "services/model/graph/graph.hpp"
#include "services/model/loading/adapter_weights.hpp"
#include "services/model/loading/load.hpp"
#include "services/model/tokenizer/encoder.hpp"
#include "services/trainer/tiny/make_tiny.hpp"
#include "tests/bench/free_port.hpp"
#include "tests/support/temp_dir.hpp"

namespace stackgate::trainer {
namespace {

using testing::HasSubstr;

std::string text_of(const std::string& path) {
  std::ifstream in(path, std::ios::binary);
  return {std::istreambuf_iterator<char>(in), {}};
}

/// A tiny model that counts, made once, and a file of lines that say otherwise.
class TrainTest : public testing::Test {
 protected:
  static void SetUpTestSuite() {
    folder_ = std::make_unique<test::TempDir>();
    std::string text;
    for (int i = 0; i < 200; ++i) text += fmt::format("count {} then {} then {}.\n", i % 7, (i + 1) % 7, (i + 2) % 7);
    folder_->write("text", text);
    Report report({});
    const auto made =
        make_tiny({.texts = {*folder_ / "text"},
                   .output = *folder_ / "tiny",
                   .shape = {.hidden = 32, .intermediate = 64, .layers = 2, .heads = 4, .key_value_heads = 2},
                   .vocabulary = 300,
                   .steps = 40,
                   .window = 64,
                   .threads = 1},
                  &Learner::open, report, [] { return false; });
    ASSERT_TRUE(made && *made == Ending::done);
    std::string lines;
    for (int i = 0; i < 7; ++i)
      lines += fmt::format(R"({{"prompt":"count {} then","completion":" stop it."}})", i) + "\n";
    folder_->write("train.jsonl", lines);
    folder_->write("wrong.jsonl", lines + "{}\n");
  }
  static void TearDownTestSuite() { folder_.reset(); }

  static TrainSettings settings(const std::string& output) {
    TrainSettings out{.model = *folder_ / "tiny", .output = *folder_ / output, .train = {*folder_ / "train.jsonl"}};
    out.parameters.max_steps = 12;
    out.parameters.batch_size = 3;
    out.parameters.learning_rate = 0.01;
    out.parameters.checkpoint_interval = 4;
    out.parameters.threads = 1;
    return out;
  }
  static Result<Ending> go(const TrainSettings& settings, const std::function<bool()>& stop = [] { return false; }) {
    Report report({});
    return train(settings, {&Learner::open, &Group::open}, report, stop, [](std::string_view) {});
  }

  static std::unique_ptr<test::TempDir> folder_;
};
std::unique_ptr<test::TempDir> TrainTest::folder_;

/// -log p of each token behind the first, as the server computes it.
std::vector<double> losses(const std::string& directory, const std::string& adapter,
                           const std::vector<std::uint32_t>& ids) {
  const auto read = model::load_directory(directory);
  model::AdapterWeights weights;
  if (!adapter.empty()) {
    const auto loaded = model::load_adapter(adapter, read.model.config);
    EXPECT_TRUE(loaded.findings.empty()) << loaded.findings.front().problem;
    weights = model::adapter_weights(loaded, read.model.config);
  }
  auto graph = model::Graph::open(read.model, model::Weights::map(directory, read.model).value(),
                                  {.threads = 1, .blocks = 8, .block_tokens = 16});
  std::vector<std::uint32_t> blocks{0, 1, 2, 3};
  const model::SequenceRows rows{.tokens = ids,
                                 .position = 0,
                                 .blocks = blocks,
                                 .adapter = adapter.empty() ? nullptr : &weights,
                                 .logits = static_cast<std::uint32_t>(ids.size())};
  std::vector<double> out;
  EXPECT_TRUE((*graph)->step({&rows, 1}, {.logits =
                                              [&](std::size_t, std::size_t token, std::span<const float> row) {
                                                if (token + 1 == ids.size()) return;
                                                double sum = 0;
                                                for (const float each : row) sum += std::exp(static_cast<double>(each));
                                                out.push_back(std::log(sum) - static_cast<double>(row[ids[token + 1]]));
                                              },
                                          .hidden_state = {}}));
  return out;
}

TEST_F(TrainTest, makes_an_adapter_that_the_server_takes_and_that_changes_its_answers) {
  TrainSettings run = settings("adapter");
  run.parameters.max_steps = 40;
  run.parameters.learning_rate = 0.03;
  ASSERT_EQ(go(run), Ending::done);
  EXPECT_TRUE(std::filesystem::exists(*folder_ / "adapter.tar.gz"));
  EXPECT_FALSE(std::filesystem::exists(*folder_ / "adapter.part"));
  tokenizer::Encoder encoder(
      std::make_shared<tokenizer::Tokenizer>(model::load_directory(*folder_ / "tiny").model.tokenizer));
  const auto ids = encoder.encode("count 3 then stop it.").value();
  const auto before = losses(*folder_ / "tiny", "", ids), after = losses(*folder_ / "tiny", *folder_ / "adapter", ids);
  const auto tail = [](const std::vector<double>& all) { return all[all.size() - 2] + all.back(); };
  EXPECT_LT(tail(after), 0.8 * tail(before));
}

TEST_F(TrainTest, the_same_run_gives_the_same_bytes_stopped_or_not) {
  ASSERT_EQ(go(settings("one")), Ending::done);
  TrainSettings two = settings("two");
  int asked = 0;
  ASSERT_EQ(go(two, [&] { return ++asked == 6; }), Ending::stopped);
  EXPECT_TRUE(std::filesystem::exists(*folder_ / "two.part/checkpoint-6"));
  EXPECT_FALSE(std::filesystem::exists(*folder_ / "two"));
  two.resume = true;
  ASSERT_EQ(go(two), Ending::done);
  EXPECT_EQ(text_of(*folder_ / "one/adapter_model.safetensors"), text_of(*folder_ / "two/adapter_model.safetensors"));
  EXPECT_EQ(text_of(*folder_ / "one.tar.gz"), text_of(*folder_ / "two.tar.gz"));
  EXPECT_EQ(go(two), Ending::done) << "there is nothing left to do";
}

TEST_F(TrainTest, another_run_does_not_go_on_from_a_checkpoint) {
  TrainSettings run = settings("other");
  ASSERT_EQ(go(run, [] { return true; }), Ending::stopped);
  run.resume = true;
  run.parameters.seed = 7;
  const auto out = go(run);
  ASSERT_FALSE(out);
  EXPECT_EQ(out.error().ending, Ending::wrong_input);
  EXPECT_THAT(out.error().faults[0].message, HasSubstr("is of another run"));
}

TEST_F(TrainTest, data_faults_name_file_and_line_and_nothing_is_made) {
  TrainSettings run = settings("nothing");
  run.train = {*folder_ / "wrong.jsonl"};
  const auto out = go(run);
  ASSERT_FALSE(out);
  EXPECT_EQ(out.error().ending, Ending::wrong_input);
  EXPECT_EQ(out.error().faults[0].file, *folder_ / "wrong.jsonl");
  EXPECT_EQ(out.error().faults[0].line, 8U);
  EXPECT_FALSE(std::filesystem::exists(*folder_ / "nothing.part"));
}

TEST_F(TrainTest, a_loss_that_is_no_number_ends_the_run_and_keeps_the_checkpoint) {
  TrainSettings run = settings("burst");
  run.parameters.learning_rate = 1;
  run.parameters.lora_alpha = 1e30;
  run.parameters.warmup_ratio = 0.4;
  run.parameters.checkpoint_interval = 1;
  const auto out = go(run);
  ASSERT_FALSE(out);
  EXPECT_EQ(out.error().ending, Ending::failed);
  EXPECT_THAT(out.error().faults[0].message, HasSubstr("is no finite number"));
  EXPECT_TRUE(newest_checkpoint(*folder_ / "burst.part"));
  EXPECT_FALSE(std::filesystem::exists(*folder_ / "burst"));
}

TEST_F(TrainTest, packed_training_is_the_same_training) {
  TrainSettings packed = settings("packed");
  packed.parameters.sequence_packing_enabled = true;
  TrainSettings single = settings("single");
  single.parameters.micro_batch_size = 1;
  ASSERT_EQ(go(packed), Ending::done);
  ASSERT_EQ(go(single), Ending::done);
  const std::vector<std::uint32_t> ids{40, 41, 42, 60, 61};
  const auto a = losses(*folder_ / "tiny", *folder_ / "packed", ids),
             b = losses(*folder_ / "tiny", *folder_ / "single", ids);
  for (std::size_t i = 0; i < a.size(); ++i) EXPECT_NEAR(a[i], b[i], 1e-3);
}

TEST_F(TrainTest, training_ends_early_when_the_validation_loss_gets_no_better) {
  TrainSettings run = settings("early");
  run.validation = run.train;
  run.parameters.learning_rate = 1e-12;
  run.parameters.max_steps = 50;
  run.parameters.val_check_interval = 1;
  run.parameters.early_stopping_patience = 3;
  ASSERT_EQ(go(run), Ending::done);
  EXPECT_THAT(text_of(*folder_ / "early/training.json"), testing::Not(HasSubstr("\"steps\":50")));
}

class TrainTogetherTest : public TrainTest {
 protected:
  void SetUp() override {
#ifndef STACKGATE_GLOO
    GTEST_SKIP() << "built without libgloo-dev";
#endif
  }
};

/// The run at `size` ranks, a thread for each; what each of them ended with.
std::vector<Result<Ending>> at_ranks(std::uint32_t size, TrainSettings settings, const Backend& backend,
                                     const std::function<bool()>& stop) {
  settings.group = {.size = size,
                    .address = "127.0.0.1",
                    .port = bench::free_port(),
                    .interface = "lo",
                    .limit = std::chrono::seconds(20)};
  std::vector<Result<Ending>> out(size, Ending::done);
  std::vector<std::jthread> ranks;
  for (std::uint32_t rank = 0; rank < size; ++rank)
    ranks.emplace_back([=, &out, &backend, &stop] {
      TrainSettings own = settings;
      own.group.rank = rank;
      Report report({.errors_alone = true});
      out[rank] = train(own, backend, report, rank == 0 ? [] { return false; } : stop, [](std::string_view) {});
    });
  ranks.clear();
  return out;
}

TEST_F(TrainTogetherTest, several_processes_learn_what_one_does) {
  const Backend gloo{&Learner::open, &Group::open};
  TrainSettings one = settings("alone"), two = settings("together");
  for (TrainSettings* each : {&one, &two}) {
    each->validation = each->train;
    each->parameters.lora_dropout = 0.1;
    each->parameters.batch_size = 3;  // one rank has two of them, and in the last step of an epoch none
  }
  ASSERT_EQ(go(one), Ending::done);
  for (const auto& each : at_ranks(2, two, gloo, [] { return false; })) EXPECT_EQ(each, Ending::done);
  const auto figures = [&](const std::string& name) {
    json::Document out;
    const std::string text = text_of(*folder_ / (name + "/training.json"));
    EXPECT_TRUE(json::parse(text, out));
    return std::pair(out.root.find("train_loss")->number(), out.root.find("val_loss")->number());
  };
  const auto [loss, val_loss] = figures("alone");
  const auto [shared_loss, shared_val_loss] = figures("together");
  EXPECT_NEAR(loss, shared_loss, 1e-5);
  EXPECT_NEAR(val_loss, shared_val_loss, 1e-5);
}

TEST_F(TrainTogetherTest, several_processes_stop_and_go_on_together) {
  const Backend gloo{&Learner::open, &Group::open};
  TrainSettings whole = settings("shared-whole"), stopped = settings("shared-stopped");
  for (const auto& each : at_ranks(2, whole, gloo, [] { return false; })) ASSERT_EQ(each, Ending::done);
  int asked = 0;
  for (const auto& each : at_ranks(2, stopped, gloo, [&] { return ++asked == 5; })) EXPECT_EQ(each, Ending::stopped);
  EXPECT_TRUE(std::filesystem::exists(*folder_ / "shared-stopped.part/checkpoint-5"));
  stopped.resume = true;
  for (const auto& each : at_ranks(2, stopped, gloo, [] { return false; })) EXPECT_EQ(each, Ending::done);
  EXPECT_EQ(text_of(*folder_ / "shared-whole.tar.gz"), text_of(*folder_ / "shared-stopped.tar.gz"));
}

/// A group that is lost at its n-th sum.
class Frail final : public Group {
 public:
  Frail(std::unique_ptr<Group> group, int left) : group_(std::move(group)), left_(left) {}
  std::uint32_t rank() const override { return group_->rank(); }
  std::uint32_t size() const override { return group_->size(); }
  Done sum(std::span<float> values) override {
    if (--left_ == 0) {
      group_.reset(new Alone);
      return std::unexpected("this process is gone");
    }
    return group_->sum(values);
  }
  Done sum(std::span<double> values) override { return group_->sum(values); }
  Done broadcast(std::span<std::byte> bytes) override { return group_->broadcast(bytes); }

 private:
  std::unique_ptr<Group> group_;
  int left_;
};

TEST_F(TrainTogetherTest, a_lost_process_ends_the_others_behind_a_checkpoint) {
  const Backend frail{&Learner::open, [](const GroupSettings& how) -> decltype(Group::open(how)) {
                        auto group = Group::open(how);
                        if (!group || how.rank == 0) return group;
                        return std::make_unique<Frail>(std::move(*group), 4);
                      }};
  const auto ends = at_ranks(2, settings("lost"), frail, [] { return false; });
  ASSERT_FALSE(ends[0]);
  EXPECT_EQ(ends[0].error().ending, Ending::stopped);
  EXPECT_THAT(ends[0].error().faults[0].message, HasSubstr("another of the 2 processes is lost"));
  EXPECT_THAT(ends[0].error().faults[0].message, HasSubstr("start all processes again with --resume"));
  // Of the last sum the lost process may take along what the other had not read yet.
  EXPECT_TRUE(std::filesystem::exists(*folder_ / "lost.part/checkpoint-3") ||
              std::filesystem::exists(*folder_ / "lost.part/checkpoint-2"));
}

TEST_F(TrainTogetherTest, a_process_with_other_data_is_refused) {
  folder_->write("more.jsonl", text_of(*folder_ / "train.jsonl") + R"({"prompt":"more","completion":"x"})");
  const Backend gloo{&Learner::open, &Group::open};
  TrainSettings run = settings("unlike");
  run.group = {.size = 2,
               .address = "127.0.0.1",
               .port = bench::free_port(),
               .interface = "lo",
               .limit = std::chrono::seconds(20)};
  TrainSettings other = run;
  other.group.rank = 1;
  other.train = {*folder_ / "more.jsonl"};
  auto second = std::async(std::launch::async, [&] {
    Report report({.errors_alone = true});
    return train(other, gloo, report, [] { return false; }, [](std::string_view) {});
  });
  Report report({.errors_alone = true});
  const auto first = train(run, gloo, report, [] { return false; }, [](std::string_view) {});
  const auto refused = second.get();
  ASSERT_FALSE(refused);
  EXPECT_EQ(refused.error().ending, Ending::wrong_input);
  EXPECT_THAT(refused.error().faults[0].message, HasSubstr("is not that of rank 0"));
  ASSERT_FALSE(first);
  EXPECT_EQ(first.error().ending, Ending::stopped);
}

}  // namespace
}  // namespace stackgate::trainer
