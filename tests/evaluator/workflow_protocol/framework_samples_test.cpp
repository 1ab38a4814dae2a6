#include "services/evaluator/workflow/protocol/framework_samples.hpp"

#include <gmock/gmock.h>

namespace stackgate::evaluator {
namespace {

using Files = std::map<std::string, std::string, std::less<>>;

std::vector<FrameworkSample> read(std::string_view lines) {
  return read_framework_samples(Files{{"samples_gsm8k_2026-01-01T00-00-00.jsonl", std::string(lines)}});
}

TEST(FrameworkSamples, are_of_the_task_that_their_file_names) {
  EXPECT_EQ(task_of_samples("samples_gsm8k_2026-01-01T00-00-00.123456.jsonl"), "gsm8k");
  EXPECT_EQ(task_of_samples("samples_mmlu_high_school_2026-01-01T00-00-00.jsonl"), "mmlu_high_school");
  EXPECT_EQ(task_of_samples("samples_gsm8k.jsonl"), "gsm8k");
  EXPECT_EQ(task_of_samples("samples_part_2.jsonl"), "part_2");
  EXPECT_EQ(task_of_samples("samples_.jsonl"), "");
}

// As lm-evaluation-harness 0.4.9 writes them, shortened.
TEST(FrameworkSamples, of_one_document_are_put_together) {
  const auto found = read(
      R"({"doc_id":0,"doc":{"question":"1+1"},"target":"2","arguments":{"gen_args_0":{"arg_0":"Q: 1+1","arg_1":{"until":["Q:"]}}},"resps":[["It is 2"]],"filtered_resps":["2"],"filter":"strict-match","metrics":["exact_match"],"doc_hash":"x","exact_match":1.0})"
      "\n"
      R"({"doc_id":0,"doc":{"question":"1+1"},"target":"2","arguments":{},"resps":[["It is 2"]],"filtered_resps":["It is 2"],"filter":"flexible-extract","metrics":["exact_match"],"exact_match":0.0})"
      "\n"
      R"({"doc_id":7,"doc":{},"target":1,"arguments":[["ctx"," a"],["ctx"," b"]],"filtered_resps":[[-1.5,false],[-0.5,true]],"filter":"none","metrics":["acc","bleu"],"acc":true,"bleu":["ref","out"]})"
      "\n");
  ASSERT_EQ(found.size(), 2U);
  EXPECT_EQ(found[0].task, "gsm8k");
  EXPECT_EQ(found[0].number, 0);
  EXPECT_EQ(
      found[0].record,
      R"({"item":{"question":"1+1"},"prompt":"Q: 1+1","output_text":"2","reference":"2","scores":{"exact_match,strict-match":1,"exact_match,flexible-extract":0}})");
  EXPECT_EQ(found[1].number, 7);
  EXPECT_EQ(
      found[1].record,
      R"({"item":{},"prompt":"ctx","output_text":[[-1.5,false],[-0.5,true]],"reference":1,"scores":{"acc":true,"bleu":null}})");
}

TEST(FrameworkSamples, that_are_none_are_passed_over) {
  EXPECT_THAT(read("no JSON\n[1]\n{}\n{\"metrics\":3}\n\n{\"doc_id\":1,\"metrics\":[\"ac"), testing::SizeIs(1))
      << "one that has metrics, and says nothing of them";
  const auto nan = read(R"({"doc_id":-3,"metrics":["m"],"m":NaN,"doc":NaN})");
  ASSERT_EQ(nan.size(), 1U);
  EXPECT_EQ(nan[0].number, 0);
  EXPECT_EQ(nan[0].record, R"({"scores":{"m":null}})");
  EXPECT_THAT(read(R"({"metrics":["m"],"m":1,"arguments":{"a":{}}})"), testing::SizeIs(1));
}

TEST(FrameworkSamples, that_come_twice_count_once) {
  const auto found = read(R"({"doc_id":0,"metrics":["m","m"],"m":1})"
                          "\n"
                          R"({"doc_id":0,"filter":"none","metrics":["m"],"m":2})");
  ASSERT_EQ(found.size(), 1U);
  EXPECT_EQ(found[0].record, R"({"scores":{"m":1}})");
}

TEST(FrameworkSamples, have_bounds) {
  std::string lines;
  for (int i = 0; i < 10'050; ++i) lines += R"({"doc_id":)" + std::to_string(i) + R"(,"metrics":["m"],"m":1})" + "\n";
  EXPECT_EQ(read(lines).size(), 10'000U);
}

}  // namespace
}  // namespace stackgate::evaluator
