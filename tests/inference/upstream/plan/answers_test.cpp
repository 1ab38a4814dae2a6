#include "services/inference/upstream/plan/answers.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace stackgate::inference::upstream {
namespace {

using ::testing::HasSubstr;
using ::testing::SizeIs;

TEST(UpstreamAnswers, a_path_that_is_not_there_is_no_model_that_is_not_there) {
  struct Row {
    int status;
    std::string_view body;
    bool lacks;
  };
  for (const Row& row : std::vector<Row>{
           {404, R"({"detail":"Not Found"})", true},  // vLLM, SGLang
           {404, R"({"error":{"code":404,"message":"File Not Found","type":"not_found_error"}})",
            true},  // llama-server
           {404, R"({"error":{"message":"The model `x` does not exist.","type":"NotFoundError","code":404}})", false},
           {405, "", true},
           {501, R"({"error":{"message":"This server does not support tokens"}})", true},
           {400, R"({"detail":"Not Found"})", false},
           {200, "", false}})
    EXPECT_EQ(lacks_path(row.status, row.body), row.lacks) << row.status << row.body;
}

TEST(UpstreamAnswers, models_are_read_and_the_base_is_the_first_without_a_parent) {
  const auto models = read_models(
      R"({"object":"list","data":[)"
      R"({"id":"support","object":"model","root":"/a/support~1","parent":"llama","owned_by":"vllm"},)"
      R"({"id":"llama","created":1700000000,"owned_by":"vllm","root":"meta/llama","parent":null,"max_model_len":4096},)"
      R"({"id":"alias","owned_by":"vllm"}]})");
  ASSERT_TRUE(models) << models.error();
  ASSERT_THAT(*models, SizeIs(3));
  EXPECT_EQ((*models)[0].root, "/a/support~1");
  EXPECT_EQ(base_of(*models).id, "llama");
  EXPECT_EQ(base_of(*models).context, 4096U);
  EXPECT_EQ(base_of(*models).created, 1'700'000'000);
}

TEST(UpstreamAnswers, other_lists_of_models_are_told_by_their_fault) {
  for (const auto& [body, fault] : std::vector<std::pair<std::string_view, std::string_view>>{
           {"", "no JSON"},
           {"[]", "no list \"data\""},
           {R"({"data":{}})", "no list \"data\""},
           {R"({"data":[]})", "without a parent"},
           {R"({"data":[{"id":"a","parent":"b"}]})", "without a parent"},
           {R"({"data":[{"id":7}]})", "data[0] has no id"},
           {R"({"data":[{"id":"a\nb"}]})", "data[0] has no id"},
           {R"({"data":[{"id":"a"},{"id":"a"}]})", "a twice"}}) {
    const auto models = read_models(body);
    ASSERT_FALSE(models) << body;
    EXPECT_THAT(models.error(), HasSubstr(fault)) << body;
  }
}

TEST(UpstreamAnswers, numbered_adapters_have_their_files_names) {
  const auto list = read_numbered_adapters(
      R"([{"id":0,"path":"/models/support.gguf","scale":0.0},{"id":1,"path":"legal"},{"id":2,"path":"x/legal.gguf"}])");
  ASSERT_TRUE(list) << list.error();
  ASSERT_THAT(*list, SizeIs(2));
  EXPECT_EQ((*list)[0].name, "support");
  EXPECT_EQ((*list)[1].name, "legal");
  EXPECT_EQ((*list)[1].id, 1);
  for (const std::string_view other : {"", "{}", "[{}]", R"([{"id":-1,"path":"a"}])", R"([{"id":0,"path":"/"}])"})
    EXPECT_FALSE(read_numbered_adapters(other)) << other;
}

TEST(UpstreamAnswers, an_engine_is_known_by_what_it_answers) {
  const auto owned_by = [](std::string_view owner) {
    return *read_models(std::string(R"({"data":[{"id":"m","owned_by":")").append(owner).append("\"}]}"));
  };
  EXPECT_EQ(kind_of(owned_by("vllm"), "", ""), Kind::vllm);
  EXPECT_EQ(kind_of(owned_by("x"), R"({"version":"0.9.1"})", ""), Kind::vllm);
  EXPECT_EQ(kind_of(owned_by("x"), R"({"version":7})", ""), Kind::openai);
  EXPECT_EQ(kind_of(owned_by("sglang"), R"({"version":"0.5"})", ""), Kind::sglang);
  EXPECT_EQ(kind_of(owned_by("llamacpp"), "", ""), Kind::llama_server);
  EXPECT_EQ(kind_of(owned_by("x"), "", "[]"), Kind::llama_server);
  EXPECT_EQ(kind_of(owned_by("openai"), "not found", "<html>"), Kind::openai);
}

TEST(UpstreamAnswers, kinds_have_words) {
  for (const Kind kind : {Kind::openai, Kind::vllm, Kind::sglang, Kind::llama_server})
    EXPECT_EQ(parse_kind(to_string(kind)), kind);
  EXPECT_EQ(parse_kind("triton"), std::nullopt);
}

}  // namespace
}  // namespace stackgate::inference::upstream
