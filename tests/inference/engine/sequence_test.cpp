#include "services/inference/engine/sequence.hpp"

#include <gtest/gtest.h>

#include "services/inference/constrain/schema_compiler.hpp"
#include "services/kit/json/parse.hpp"
#include "tests/inference/engine/paged_model.hpp"

namespace stackgate::inference {
namespace {

std::shared_ptr<const Grammar> grammar_of(std::string_view schema) {
  json::Document document;
  return compile_schema(json::parse(schema, document).value(), "").value();
}

/// A model that would write `wish`, one byte a token, where it may.
class CallTest : public ::testing::Test {
 protected:
  std::string written(std::string_view wish) {
    Job job{.sequences = {{.prompt = std::make_shared<const std::vector<TokenId>>(1, 'x'), .max_tokens = 200}},
            .sampling = {.temperature = 0},
            .text = {.end_ids = {end_id}}};
    job.call_grammar = grammar;
    job.call_mark = "<tool_call>";
    Sequence sequence(job, 0, test::vocabulary());
    std::string out;
    for (std::size_t i = 0; i < wish.size(); ++i) {
      std::vector<float> row(test::vocabulary_size);
      row['n'] = 0.5F;  // what it writes instead of what is not allowed
      row['}'] = 0.4F;
      row[static_cast<unsigned char>(wish[i])] = 1;
      row[end_id] = ends_at == i ? 2 : 0;
      const auto chosen = sequence.take(i, row, sampler_);
      if (!chosen || !*chosen) return out + "!";
      out += **chosen == end_id ? '$' : static_cast<char>(**chosen);
      if (sequence.finished()) break;
    }
    return out;
  }

  static constexpr TokenId end_id = 1;
  std::size_t ends_at = SIZE_MAX;
  std::shared_ptr<const Grammar> grammar = grammar_of(
      R"({"type":"object","properties":{"name":{"const":"f"},"arguments":{"type":"object","properties":{"a":{"type":"null"}},)"
      R"("required":["a"],"additionalProperties":false}},"required":["name","arguments"],"additionalProperties":false})");
  Sampler sampler_;
};

TEST_F(CallTest, what_fits_is_written_as_the_model_likes) {
  const std::string wish =
      "Well. <tool_call>\n{\"name\": \"f\", \"arguments\": {\"a\": null}}\n</tool_call> And "
      "<tool_call>{\"name\":\"f\",\"arguments\":{\"a\":null}}</tool_call>";
  EXPECT_EQ(written(wish), wish);
}

TEST_F(CallTest, what_does_not_fit_cannot_be_written) {
  EXPECT_EQ(written("<tool_call>{\"name\": \"g\""), "<tool_call>{\"name\": \"f\"") << "no other tool";
  const std::string begun = "<tool_call> {\"name\": \"f\", \"arguments\": {\"a\": ";
  EXPECT_EQ(written(begun + "17"), begun + "nu") << "no number where null is wanted";
  EXPECT_EQ(written(begun + "null, "), begun + "null} ") << "nothing that the schema has not";
}

TEST_F(CallTest, a_call_is_not_left_half_written) {
  ends_at = 20;
  EXPECT_EQ(written("<tool_call>{\"name\": \"f\""), "<tool_call>{\"name\": \"f\"");
  ends_at = 3;
  EXPECT_EQ(written("abcdef"), "abc$");
}

TEST_F(CallTest, other_text_is_free) { EXPECT_EQ(written("<tool_cal>{x} <tool_call"), "<tool_cal>{x} <tool_call"); }

}  // namespace
}  // namespace stackgate::inference
