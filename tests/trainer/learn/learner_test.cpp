#include "services/trainer/learn/learner.hpp"

#include <cmath>
#include <numeric>

#include <gtest/gtest.h>

#include "services/model/graph/graph.hpp"
#include "services/model/loading/load.hpp"
#include "services/trainer/data/random.hpp"
#include "tests/bench/model_directory.hpp"
#include "tests/support/temp_dir.hpp"

namespace stackgate::trainer {
namespace {

constexpr bench::ModelSize small_size{
    .hidden = 24, .intermediate = 40, .layers = 3, .heads = 6, .key_value_heads = 2, .vocabulary = 256, .context = 64};

/// A model on the disk with weights large enough that its loss is no constant.
class LearnerTest : public testing::Test {
 protected:
  LearnerTest() {
    bench::write_model(folder_ / "model", small_size);
    read_ = model::load_directory(folder_ / "model");
    weights_ = std::make_unique<model::Weights>(model::Weights::map(folder_ / "model", read_.model).value());
    for (std::uint32_t i = 0; i < 4; ++i) {
      std::vector<std::uint32_t> ids(7 + 5 * i);
      for (std::uint32_t n = 0; n < ids.size(); ++n)
        ids[n] = static_cast<std::uint32_t>(256 * uniform(key_of(1, i), n));
      const auto size = static_cast<std::uint32_t>(ids.size());
      ids_.push_back(std::move(ids));
      trained_.push_back({{1, 3}, {5, size}});
    }
  }
  std::unique_ptr<Learner> open(LearnerSettings settings) {
    settings.positions = 64;
    if (settings.lora.modules.empty())
      settings.lora.modules = {model::Module::query, model::Module::key, model::Module::value, model::Module::output,
                               model::Module::gate,  model::Module::up,  model::Module::down};
    auto learner = Learner::open(read_.model, *weights_, settings).value();
    if (!settings.everything) {
      draw_lora(learner->parameters(), learner->values(), 7);
      // B is zero at first: then A has no gradient.
      for (std::size_t i = 0; i < learner->values().size(); ++i)
        learner->values()[i] += static_cast<float>(0.2 * (uniform(3, i) - 0.5));
    }
    return learner;
  }
  std::vector<LearnedExample> examples(std::size_t from, std::size_t count) const {
    std::vector<LearnedExample> out;
    for (std::size_t i = from; i < from + count; ++i)
      out.push_back({.ids = ids_[i], .trained = trained_[i], .dropout_key = i});
    return out;
  }
  static double difference(std::span<const float> a, std::span<const float> b) {
    double out = 0, largest = 0;
    for (std::size_t i = 0; i < a.size(); ++i) {
      out = std::max(out, std::abs(static_cast<double>(a[i]) - b[i]));
      largest = std::max(largest, std::abs(static_cast<double>(a[i])));
    }
    return out / largest;
  }
  static std::vector<float> gradients(Learner& learner, const std::vector<std::vector<LearnedExample>>& passes) {
    std::ranges::fill(learner.gradients(), 0.0F);
    for (const auto& each : passes) EXPECT_TRUE(learner.learn(each, 0.05));
    return {learner.gradients().begin(), learner.gradients().end()};
  }

  test::TempDir folder_;
  model::DirectoryRead read_;
  std::unique_ptr<model::Weights> weights_;
  std::vector<std::vector<std::uint32_t>> ids_;
  std::vector<std::vector<TokenRange>> trained_;
};

/// The loss's change along a drawn direction, by differences, against the gradient's.
void expect_gradient(Learner& learner, const std::vector<LearnedExample>& all, double tolerance) {
  std::ranges::fill(learner.gradients(), 0.0F);
  ASSERT_TRUE(learner.learn(all, 1));
  const std::vector<float> start(learner.values().begin(), learner.values().end());
  for (std::uint64_t direction = 0; direction < 5; ++direction) {
    double slope = 0;
    const auto move = [&](double by) {
      slope = 0;
      for (std::size_t i = 0; i < start.size(); ++i) {
        const double along = uniform(direction, i) - 0.5;
        learner.values()[i] = start[i] + static_cast<float>(by * along);
        slope += along * static_cast<double>(learner.gradients()[i]);
      }
      return learner.loss(all).value();
    };
    constexpr double step = 2e-3;
    const double measured = (move(step) - move(-step)) / (2 * step);
    move(0);
    EXPECT_NEAR(measured, slope, tolerance * (1 + std::abs(slope))) << direction;
  }
}

TEST_F(LearnerTest, the_gradient_is_the_slope_of_the_loss) {
  const auto learner = open({.lora = {.rank = 3, .scale = 1.5}});
  expect_gradient(*learner, examples(0, 4), 2e-3);
}

TEST_F(LearnerTest, values_that_are_copied_to_a_device_give_the_same) {
  for (const bool everything : {false, true})
    for (const bool checkpointing : {false, true}) {
      LearnerSettings settings{
          .gradient_checkpointing = checkpointing, .everything = everything, .lora = {.rank = 3, .scale = 1.5}};
      const auto beside = open(settings);
      settings.apart = true;
      const auto apart = open(settings);
      // In two passes, so that gradients are added up, and again after a change of the values.
      for (int step = 0; step < 2; ++step) {
        EXPECT_EQ(gradients(*apart, {examples(0, 2), examples(2, 2)}),
                  gradients(*beside, {examples(0, 2), examples(2, 2)}));
        EXPECT_EQ(apart->loss(examples(0, 4)), beside->loss(examples(0, 4)));
        EXPECT_EQ(apart->logits(ids_[1]), beside->logits(ids_[1]));
        for (Learner* each : {apart.get(), beside.get()})
          for (float& value : each->values()) value *= 1.1F;
      }
    }
}

TEST_F(LearnerTest, a_device_that_is_not_there_is_refused) {
  LearnerSettings settings{.positions = 64, .device = std::nullopt};
  const bool has_gpu = model::Graph::device(std::nullopt) == model::Device::cuda;
  EXPECT_TRUE(Learner::open(read_.model, *weights_, settings));
  settings.device = model::Device::cuda;
  const auto refused = Learner::open(read_.model, *weights_, settings);
  ASSERT_EQ(refused.has_value(), has_gpu);
  EXPECT_TRUE(has_gpu || refused.error().contains("use --device cpu"));
}

TEST_F(LearnerTest, of_all_weights_too) {
  const auto learner = open({.everything = true});
  expect_gradient(*learner, examples(0, 4), 5e-3);
}

TEST_F(LearnerTest, some_modules_alone) {
  const auto learner = open({.lora = {.rank = 2, .scale = 1, .modules = {model::Module::key, model::Module::down}}});
  EXPECT_EQ(learner->parameters().size(), 3U * 2 * 2);
  expect_gradient(*learner, examples(0, 2), 2e-3);
}

TEST_F(LearnerTest, examples_beside_each_other_do_not_see_each_other) {
  for (const double dropout : {0.0, 0.3}) {
    const auto learner = open({.lora = {.rank = 3, .scale = 1.5, .dropout = dropout}});
    const auto together = gradients(*learner, {examples(0, 4)});
    const auto alone = gradients(*learner, {examples(0, 1), examples(1, 1), examples(2, 2)});
    EXPECT_LT(difference(together, alone), 2e-6) << dropout;
    double sum = 0;
    for (std::size_t i = 0; i < 4; ++i) sum += learner->loss(examples(i, 1)).value();
    EXPECT_NEAR(learner->loss(examples(0, 4)).value(), sum, 1e-4);
  }
}

TEST_F(LearnerTest, layers_that_are_computed_again_give_the_same_gradients_to_the_bit) {
  for (const double dropout : {0.0, 0.3}) {
    const auto kept = open({.lora = {.rank = 3, .scale = 1.5, .dropout = dropout}});
    const auto again = open({.gradient_checkpointing = true, .lora = {.rank = 3, .scale = 1.5, .dropout = dropout}});
    EXPECT_EQ(gradients(*kept, {examples(0, 2), examples(2, 2)}), gradients(*again, {examples(0, 2), examples(2, 2)}));
  }
}

TEST_F(LearnerTest, dropout_is_of_the_key) {
  const auto learner = open({.lora = {.rank = 3, .scale = 1.5, .dropout = 0.5}});
  auto one = examples(0, 1);
  const auto first = gradients(*learner, {one});
  EXPECT_EQ(first, gradients(*learner, {one}));
  one[0].dropout_key = 99;
  EXPECT_GT(difference(first, gradients(*learner, {one})), 0.01);
}

TEST_F(LearnerTest, a_pass_fails_in_words) {
  const auto learner = open({});
  const std::vector<std::uint32_t> ids{1, 2, 1000};
  const std::vector<TokenRange> trained{{1, 3}};
  const LearnedExample wrong{.ids = ids, .trained = trained};
  const auto out = learner->loss({&wrong, 1});
  ASSERT_FALSE(out);
  EXPECT_TRUE(out.error().starts_with("libtorch: "));
}

/// The adapter as the server applies it: B transposed, with the scale in it.
model::AdapterWeights served(const Learner& learner, std::span<const float> values, double scale) {
  model::AdapterWeights out;
  out.layers.resize(small_size.layers);
  const auto& parameters = learner.parameters();
  for (std::size_t i = 0; i < parameters.size(); i += 2) {
    const Parameter &a = parameters[i], &b = parameters[i + 1];
    model::LowRank pair{.rank = a.shape[0], .a = {}, .b = {}};
    pair.a.assign(values.begin() + static_cast<std::ptrdiff_t>(a.offset),
                  values.begin() + static_cast<std::ptrdiff_t>(a.offset + a.count));
    for (std::size_t r = 0; r < pair.rank; ++r)
      for (std::size_t row = 0; row < b.shape[0]; ++row)
        pair.b.push_back(static_cast<float>(scale) * values[b.offset + row * pair.rank + r]);
    out.layers[i / 2 / model::module_names.size()][i / 2 % model::module_names.size()] = std::move(pair);
  }
  return out;
}

TEST_F(LearnerTest, the_server_answers_with_the_logits_that_were_trained) {
  const auto learner = open({.lora = {.rank = 3, .scale = 1.5}});
  const std::vector<float> ours = learner->logits(ids_[3]).value();
  const model::AdapterWeights adapter = served(*learner, learner->values(), 1.5);
  auto graph = model::Graph::open(read_.model, model::Weights::map(folder_ / "model", read_.model).value(),
                                  {.threads = 1, .blocks = 4, .block_tokens = 16});
  ASSERT_TRUE(graph);
  const std::vector<std::uint32_t> blocks{0, 1, 2, 3};
  for (const bool adapted : {true, false}) {
    std::vector<float> theirs;
    const model::SequenceRows rows{.tokens = ids_[3],
                                   .position = 0,
                                   .blocks = blocks,
                                   .adapter = adapted ? &adapter : nullptr,
                                   .logits = static_cast<std::uint32_t>(ids_[3].size())};
    ASSERT_TRUE((*graph)->step(
        {&rows, 1}, {.logits = [&](std::size_t, std::size_t,
                                   std::span<const float> row) { theirs.insert(theirs.end(), row.begin(), row.end()); },
                     .hidden_state = {}}));
    ASSERT_EQ(ours.size(), theirs.size());
    if (adapted)
      EXPECT_LT(difference(ours, theirs), 1e-5);
    else
      EXPECT_GT(difference(ours, theirs), 1e-3) << "the adapter changes something";
  }
}

}  // namespace
}  // namespace stackgate::trainer
