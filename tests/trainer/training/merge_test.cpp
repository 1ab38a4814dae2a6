#include "services/trainer/merge/merge.hpp"

#include <cmath>
#include <filesystem>

#include <gtest/gtest.h>

#include "services/model/graph/graph.hpp"
#include "services/model/loading/adapter_weights.hpp"
#include "services/model/loading/floats.hpp"
#include "services/model/loading/load.hpp"
#include "services/trainer/data/random.hpp"
#include "services/trainer/merge/narrow.hpp"
#include "services/trainer/parameters/parameters.hpp"
#include "services/trainer/training/adapter_output.hpp"
#include "tests/bench/model_directory.hpp"
#include "tests/support/temp_dir.hpp"

namespace stackgate::trainer {
namespace {

float widened(std::uint16_t bits, model::Dtype type) {
  return model::floats_of(std::as_bytes(std::span(&bits, 1)), type)[0];
}

TEST(Narrow, gives_back_what_was_narrow_and_rounds_to_the_nearest) {
  for (std::uint32_t bits = 0; bits < 0x10000; ++bits)
    for (const model::Dtype type : {model::Dtype::f16, model::Dtype::bf16}) {
      const auto narrow = static_cast<std::uint16_t>(bits);
      const float wide = widened(narrow, type);
      const auto back = type == model::Dtype::f16 ? half_of(wide) : bfloat16_of(wide);
      if (std::isnan(wide))
        ASSERT_TRUE(std::isnan(widened(back, type))) << bits;
      else
        ASSERT_EQ(back, narrow) << bits;
      const float next = widened(static_cast<std::uint16_t>(bits + 1), type);
      if ((bits & 0x7fffU) == 0x7fffU || !std::isfinite(wide) || !std::isfinite(next)) continue;
      // A tie goes to the even one, what is beside it to the nearer.
      const auto middle = static_cast<float>((static_cast<double>(wide) + next) / 2);
      const auto of = [&](float value) { return type == model::Dtype::f16 ? half_of(value) : bfloat16_of(value); };
      ASSERT_EQ(of(middle), (bits & 1U) == 0 ? bits : bits + 1) << bits;
      ASSERT_EQ(of(std::nextafter(middle, wide)), bits) << bits;
      ASSERT_EQ(of(std::nextafter(middle, next)), bits + 1) << bits;
    }
  EXPECT_EQ(half_of(65519.9F), 0x7bff);
  EXPECT_EQ(half_of(65520), 0x7c00);
  EXPECT_EQ(half_of(-1e30F), 0xfc00);
}

std::vector<float> logits(const std::string& directory, const model::AdapterWeights* adapter) {
  const auto read = model::load_directory(directory);
  EXPECT_TRUE(read.findings.empty());
  auto graph = model::Graph::open(read.model, model::Weights::map(directory, read.model).value(),
                                  {.threads = 1, .blocks = 4, .block_tokens = 16});
  const std::vector<std::uint32_t> ids{1, 50, 200, 3, 77}, blocks{0};
  const model::SequenceRows rows{.tokens = ids, .position = 0, .blocks = blocks, .adapter = adapter, .logits = 5};
  std::vector<float> out;
  EXPECT_TRUE((*graph)->step(
      {&rows, 1}, {.logits = [&](std::size_t, std::size_t,
                                 std::span<const float> row) { out.insert(out.end(), row.begin(), row.end()); },
                   .hidden_state = {}}));
  return out;
}

double farthest(std::span<const float> a, std::span<const float> b) {
  double out = 0;
  for (std::size_t i = 0; i < a.size(); ++i) out = std::max(out, std::abs(static_cast<double>(a[i]) - b[i]));
  return out;
}

TEST(Merge, answers_as_the_base_with_the_adapter_does) {
  const test::TempDir folder;
  bench::write_model(
      folder / "base",
      {.hidden = 32, .intermediate = 48, .layers = 2, .heads = 4, .key_value_heads = 2, .vocabulary = 256});
  folder.write("base/model.bin", "a pickle");
  folder.write("base/notes.txt", "kept");
  const auto read = model::load_directory(folder / "base");
  model::Hyperparameters how;
  how.lora_rank = 3;
  const auto parameters = lora_parameters(read.model.config, {.rank = 3, .modules = how.target_modules});
  std::vector<float> values(parameters.back().offset + parameters.back().count);
  for (std::size_t i = 0; i < values.size(); ++i) values[i] = static_cast<float>(uniform(5, i) - 0.5);
  std::filesystem::create_directories(folder / "adapter");
  ASSERT_TRUE(write_adapter(folder / "adapter", adapter_config(how, "base"), parameters, values, "{}"));

  const auto done = merge({.model = folder / "base", .adapter = folder / "adapter", .output = folder / "merged"});
  ASSERT_TRUE(done) << done.error().faults[0].message;
  const auto loaded = model::load_adapter(folder / "adapter", read.model.config);
  const auto adapter = model::adapter_weights(loaded, read.model.config);
  const auto wanted = logits(folder / "base", &adapter);
  EXPECT_LT(farthest(wanted, logits(folder / "merged", nullptr)), 1e-5);
  EXPECT_GT(farthest(wanted, logits(folder / "base", nullptr)), 0.1);
  EXPECT_TRUE(std::filesystem::exists(folder / "merged/notes.txt"));
  EXPECT_FALSE(std::filesystem::exists(folder / "merged/model.bin"));
  EXPECT_EQ(
      merge({.model = folder / "base", .adapter = folder / "adapter", .output = folder / "merged"}).error().ending,
      Ending::wrong_input);
}

}  // namespace
}  // namespace stackgate::trainer
