#include "services/trainer/data/dataset.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "services/model/directory/model_directory.hpp"
#include "tests/model/small_model.hpp"

namespace stackgate::trainer {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::SizeIs;

/// The letters a to d, <s> (6) before a text, </s> (5) behind it.
class DatasetTest : public testing::Test {
 protected:
  DatasetTest() {
    model::DirectoryFiles files;
    files.config = model::test::small_config;
    files.tokenizer = model::test::small_tokenizer;
    files.tokenizer_config = R"({"bos_token":"<s>","eos_token":"</s>","add_bos_token":true,"chat_template":)"
                             R"("{% for m in messages %}{{ m.content }}</s>{% endfor %}"})";
    auto read = model::read_directory(files);
    templates_ = model::ChatTemplates::compile(read.model.templates, read.model.special_tokens).templates;
    auto tokenizer = std::make_shared<tokenizer::Tokenizer>(std::move(read.model.tokenizer));
    frame_ = text_frame(read.model, *tokenizer);
    tokens_ = std::make_unique<Tokens>(tokenizer, frame_);
  }
  Dataset read(std::string_view text, std::size_t most = 100) {
    DatasetReader reader(*tokens_, templates_, most);
    reader.add_file("t.jsonl", text);
    return reader.finish();
  }
  std::vector<std::string> faults(std::string_view text, std::size_t most = 100) {
    std::vector<std::string> out;
    for (const DataFault& each : read(text, most).faults) out.push_back(to_text(each));
    return out;
  }

  model::ChatTemplates templates_;
  TextFrame frame_;
  std::unique_ptr<Tokens> tokens_;
};

TEST_F(DatasetTest, frames_prompts_and_trains_the_completion_with_its_end) {
  const Dataset data =
      read("{\"prompt\":\"ab\",\"completion\":\"cd\"}\n\n  \r\n{\"prompt\":\"\",\"completion\":\"a\"}");
  ASSERT_THAT(data.faults, IsEmpty());
  ASSERT_THAT(data.examples, SizeIs(2));
  EXPECT_THAT(data.examples[0].ids, ElementsAre(6, 0, 1, 2, 3, 5));
  EXPECT_THAT(data.examples[0].trained, ElementsAre(TokenRange{3, 6}));
  EXPECT_THAT(data.examples[1].ids, ElementsAre(6, 0, 5));
  EXPECT_EQ(data.tokens, 9U);
  EXPECT_EQ(data.trained_tokens, 5U);
}

TEST_F(DatasetTest, conversations_are_the_templates_text_and_nothing_else) {
  const Dataset data = read(
      R"({"messages":[{"role":"user","content":"ab"},{"role":"assistant","content":"c"},{"role":"user","content":"d"},)"
      R"({"role":"assistant","content":"a"},{"role":"user","content":"bbb"}]})");
  ASSERT_THAT(data.faults, IsEmpty());
  EXPECT_THAT(data.examples[0].ids, ElementsAre(0, 1, 5, 2, 5, 3, 5, 0, 5));
  EXPECT_THAT(data.examples[0].trained, ElementsAre(TokenRange{3, 5}, TokenRange{7, 9}));
}

TEST_F(DatasetTest, too_long_ones_are_cut_at_the_right_or_skipped) {
  const Dataset data = read(
      "{\"prompt\":\"ab\",\"completion\":\"cd\"}\n{\"prompt\":\"a\",\"completion\":\"b\"}\n"
      "{\"prompt\":\"aaaa\",\"completion\":\"b\"}",
      4);
  ASSERT_THAT(data.faults, IsEmpty());
  ASSERT_THAT(data.examples, SizeIs(2));
  EXPECT_THAT(data.examples[0].ids, ElementsAre(6, 0, 1, 2));
  EXPECT_THAT(data.examples[0].trained, ElementsAre(TokenRange{3, 4}));
  EXPECT_EQ(data.cut, 2U);
  EXPECT_EQ(data.skipped, 1U);
  EXPECT_THAT(faults("{\"prompt\":\"aaaa\",\"completion\":\"b\"}\n", 4),
              ElementsAre(HasSubstr("t.jsonl: 1 of 1 examples have nothing to learn within 4 tokens")));
}

TEST_F(DatasetTest, all_faults_are_told_with_their_lines) {
  EXPECT_THAT(faults("{\"prompt\":\"a\",\"completion\":\"b\"}\n{\n\n{\"prompt\":\"a\"}\n"
                     R"({"messages":[{"role":"user","content":"a"},{"role":"assistant","content":"b"}]})"),
              ElementsAre(HasSubstr("t.jsonl:2: no JSON"), "t.jsonl:4: lacks \"completion\"",
                          HasSubstr("t.jsonl:5: has messages, the lines before it prompt and completion")));
  EXPECT_THAT(faults(""), ElementsAre("t.jsonl: holds no examples"));
  EXPECT_THAT(faults("\n\n"), ElementsAre("t.jsonl: holds no examples"));
  std::string many;
  for (int i = 0; i < 30; ++i) many += "x\n";
  const Dataset data = read(many);
  EXPECT_THAT(data.faults, SizeIs(20));
  EXPECT_EQ(data.fault_count, 30U);
}

TEST_F(DatasetTest, a_share_is_split_off_by_the_seed) {
  std::string text;
  for (int i = 0; i < 40; ++i)
    text += "{\"prompt\":\"" + std::string(1 + static_cast<std::size_t>(i), 'a') + "\",\"completion\":\"b\"}\n";
  const auto split = [&](double share, std::uint64_t seed) {
    Dataset from = read(text);
    Dataset out = split_off(from, share, seed);
    return std::pair(std::move(from), std::move(out));
  };
  const auto lengths = [](const Dataset& of) {
    std::vector<std::size_t> out;
    for (const Example& each : of.examples) out.push_back(each.ids.size());
    return out;
  };
  const auto [from, out] = split(0.1, 7);
  EXPECT_THAT(from.examples, SizeIs(36));
  EXPECT_THAT(out.examples, SizeIs(4));
  EXPECT_TRUE(std::ranges::is_sorted(lengths(from))) << "what stays keeps its order";
  auto all = lengths(from);
  for (const std::size_t each : lengths(out)) all.push_back(each);
  std::ranges::sort(all);
  const Dataset whole = read(text);
  EXPECT_EQ(all, lengths(whole)) << "nothing is lost, nothing is twice";
  EXPECT_EQ(from.tokens + out.tokens, whole.tokens);
  EXPECT_EQ(from.trained_tokens + out.trained_tokens, whole.trained_tokens);
  EXPECT_EQ(out.trained_tokens, 8U);
  EXPECT_EQ(lengths(split(0.1, 7).second), lengths(out)) << "drawn alike";
  EXPECT_NE(lengths(split(0.1, 8).second), lengths(out));
  EXPECT_THAT(split(0.001, 7).second.examples, SizeIs(1)) << "one at least";
  Dataset two = read("{\"prompt\":\"a\",\"completion\":\"b\"}\n{\"prompt\":\"b\",\"completion\":\"b\"}");
  EXPECT_THAT(split_off(two, 0.5, 1).examples, SizeIs(1));
  EXPECT_THAT(two.examples, SizeIs(1));
}

TEST_F(DatasetTest, digests_tell_data_apart) {
  const auto of = [&](std::string_view text) { return read(text).digest; };
  const auto one = of("{\"prompt\":\"a\",\"completion\":\"bc\"}");
  EXPECT_EQ(one, of("{\"prompt\":\"a\", \"completion\":\"bc\"}\n\n"));
  EXPECT_NE(one, of("{\"prompt\":\"ab\",\"completion\":\"c\"}")) << "the same tokens, another border";
  EXPECT_NE(one, of("{\"prompt\":\"a\",\"completion\":\"bd\"}"));
}

}  // namespace
}  // namespace stackgate::trainer
