#include "services/model/loading/adapter_weights.hpp"

#include <bit>
#include <cmath>
#include <limits>

#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tests/model/directory/lines.hpp"
#include "tests/model/small_model.hpp"
#include "tests/support/temp_dir.hpp"

namespace stackgate::model {
namespace {

using ::testing::AllOf;
using ::testing::Each;
using ::testing::ElementsAre;
using ::testing::IsEmpty;
using ::testing::SizeIs;

/// v_proj of the small model (8 in, 4 out) and its head, rank 2, of these values' bits.
class AnAdapter {
 public:
  template <typename Word>
  AnAdapter(const std::string& dtype, const std::vector<Word>& values) {
    folder_.write("adapter_config.json",
                  R"({"peft_type":"LORA","r":2,"lora_alpha":6,"target_modules":["v_proj","lm_head"],)"
                  R"("base_model_name_or_path":"small"})");
    std::string data;
    for (const Word each : values) data.append(reinterpret_cast<const char*>(&each), sizeof each);
    const std::string value = "base_model.model.model.layers.0.self_attn.v_proj.lora_",
                      head = "base_model.model.lm_head.lora_";
    std::string file = test::safetensors_file(std::vector<ExpectedTensor>{{value + "A.weight", {2, 8}},
                                                                          {value + "B.weight", {4, 2}},
                                                                          {head + "A.weight", {2, 8}},
                                                                          {head + "B.weight", {8, 2}}},
                                              dtype);
    // By name: the head's before the layer's.
    file.replace(file.size() - (16 + 8) * sizeof(Word), data.size(), data);
    folder_.write("adapter_model.safetensors", file);
  }
  AdapterWeights weights() const {
    const LoadedAdapter loaded = load_adapter(folder_ / ".", base());
    EXPECT_THAT(test::lines(loaded.findings), IsEmpty());
    return adapter_weights(loaded, base());
  }

 private:
  static const Config& base() {
    static const Config config = read_config(test::small_config).config;
    return config;
  }
  stackgate::test::TempDir folder_;
};

constexpr auto value_module = static_cast<std::size_t>(Module::value);

TEST(AdapterWeights, b_is_transposed_and_scaled_a_is_not) {
  std::vector<float> values(16 + 8, 0.5F);
  for (std::size_t i = 0; i < 8; ++i) values[16 + i] = static_cast<float>(i);  // [4, 2]
  const AdapterWeights weights = AnAdapter("F32", values).weights();
  ASSERT_THAT(weights.layers, SizeIs(1));
  const LowRank& pair = weights.layers[0][value_module];
  EXPECT_EQ(pair.rank, 2);
  EXPECT_THAT(pair.a, AllOf(SizeIs(16), Each(0.5F)));
  EXPECT_THAT(pair.b, ElementsAre(0, 6, 12, 18, 3, 9, 15, 21));  // alpha / rank = 3
  EXPECT_EQ(weights.layers[0][static_cast<std::size_t>(Module::query)].rank, 0);
  EXPECT_EQ(weights.head.rank, 2);
  EXPECT_THAT(weights.head.b, SizeIs(16));
  EXPECT_EQ(memory_bytes(weights), (16 + 8 + 16 + 16) * sizeof(float));
}

TEST(AdapterWeights, halves_are_widened_exactly) {
  const std::vector<std::uint16_t> values{0x0000, 0x8000, 0x0001, 0x83ff, 0x0400, 0x3c00, 0xbc00, 0x3555,
                                          0x7bff, 0xfbff, 0x7c00, 0xfc00, 0x7e00, 0x4248, 0x5640, 0x0200};
  const std::vector<float> a = AnAdapter("F16", values).weights().layers[0][value_module].a;
  constexpr float infinity = std::numeric_limits<float>::infinity();
  const std::vector<float> expected{0.0F,  -0.0F,       0x1p-24F, -1023 * 0x1p-24F, 0x1p-14F, 1.0F,
                                    -1.0F, 0x1.554p-2F, 65504.0F, -65504.0F,        infinity, -infinity,
                                    NAN,   3.140625F,   100.0F,   0x1p-15F};
  for (std::size_t i = 0; i < expected.size(); ++i) {
    if (std::isnan(expected[i]))
      EXPECT_TRUE(std::isnan(a[i])) << i;
    else
      EXPECT_EQ(std::bit_cast<std::uint32_t>(a[i]), std::bit_cast<std::uint32_t>(expected[i]))
          << fmt::format("{:#x}", values[i]);
  }
}

TEST(AdapterWeights, bfloat16_is_the_upper_half) {
  const std::vector<std::uint16_t> values{0x3f80, 0xc000, 0x3e80, 0x0001};
  const std::vector<float> a = AnAdapter("BF16", values).weights().layers[0][value_module].a;
  EXPECT_EQ(a[0], 1.0F);
  EXPECT_EQ(a[1], -2.0F);
  EXPECT_EQ(a[2], 0.25F);
  EXPECT_EQ(std::bit_cast<std::uint32_t>(a[3]), 0x00010000U);
}

}  // namespace
}  // namespace stackgate::model
