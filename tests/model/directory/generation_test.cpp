#include "services/model/directory/generation.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tests/model/directory/lines.hpp"

namespace stackgate::model {
namespace {

using test::lines;
using testing::ElementsAre;
using testing::IsEmpty;

TEST(ReadGeneration, takes_defaults_and_end_ids_of_a_published_file) {
  const auto [generation, findings] = read_generation(R"({"bos_token_id":151643,"pad_token_id":151643,"do_sample":true,
    "eos_token_id":[151645,151643],"repetition_penalty":1.05,"temperature":0.7,"top_p":0.8,"top_k":20,
    "transformers_version":"4.37.0"})");
  ASSERT_THAT(lines(findings), IsEmpty());
  EXPECT_EQ(generation.temperature, 0.7);
  EXPECT_EQ(generation.top_p, 0.8);
  EXPECT_EQ(generation.top_k, 20U);
  EXPECT_EQ(generation.repetition_penalty, 1.05);
  EXPECT_EQ(generation.min_p, std::nullopt);
  EXPECT_EQ(generation.max_new_tokens, std::nullopt);
  EXPECT_THAT(generation.end_ids, ElementsAre(151'645, 151'643));
}

TEST(ReadGeneration, takes_null_as_absent_and_one_id_as_a_list) {
  const auto [generation, findings] =
      read_generation(R"({"temperature":null,"top_k":-1,"eos_token_id":2,"max_new_tokens":64,"min_p":0})");
  ASSERT_THAT(lines(findings), IsEmpty());
  EXPECT_EQ(generation.temperature, std::nullopt);
  EXPECT_EQ(generation.top_k, 0U);
  EXPECT_EQ(generation.max_new_tokens, 64U);
  EXPECT_EQ(generation.min_p, 0.0);
  EXPECT_THAT(generation.end_ids, ElementsAre(2));
}

TEST(ReadGeneration, names_each_fault_and_its_place) {
  struct Fault {
    std::string json, line;
  };
  const std::vector<Fault> faults{
      {R"({"temperature":2.5})", "generation_config.json: temperature: must be a number from 0 to 2"},
      {R"({"temperature":"hot"})", "generation_config.json: temperature: must be a number from 0 to 2"},
      {R"({"top_p":0})", "generation_config.json: top_p: must be a number from 1e-06 to 1"},
      {R"({"min_p":1.5})", "generation_config.json: min_p: must be a number from 0 to 1"},
      {R"({"repetition_penalty":-1})",
       "generation_config.json: repetition_penalty: must be a number from 1e-06 to 100"},
      {R"({"top_k":1.5})", "generation_config.json: top_k: must be a whole number from 0 to 16777216"},
      {R"({"max_new_tokens":0})", "generation_config.json: max_new_tokens: must be a whole number from 1 to 16777216"},
      {R"({"eos_token_id":[1,-2,3]})",
       "generation_config.json: eos_token_id: must be the id of a token, or a list of ids"},
      {R"([])", "generation_config.json: must be an object"},
      {R"({"top_k":1,"top_k":2})", "generation_config.json: duplicate key \"top_k\""},
  };
  for (const Fault& fault : faults) {
    const auto read = read_generation(fault.json);
    EXPECT_THAT(lines(read.findings), ElementsAre(fault.line)) << fault.json;
    EXPECT_TRUE(validate::has_errors(read.findings)) << fault.json;
  }
}

}  // namespace
}  // namespace stackgate::model
