#include "services/inference/api/other_requests.hpp"

#include <gtest/gtest.h>

#include "tests/inference/api/request_support.hpp"

namespace stackgate::inference {
namespace {

template <class Reader>
auto with_limits(Reader reader, std::string_view body) {
  return test::read_body([reader](const json::Value& root) { return reader(root, test::limits); }, body);
}

TEST(EmbeddingRequest, reads) {
  const auto got =
      with_limits(read_embedding, R"({"model":"m","input":["a","b"],"encoding_format":"base64","user":"u"})");
  ASSERT_TRUE(got.has_value());
  EXPECT_EQ(got->inputs.size(), 2U);
  EXPECT_TRUE(got->base64);
  EXPECT_FALSE(with_limits(read_embedding, R"({"model":"m","input":"a"})")->base64);
  EXPECT_EQ(test::faults(with_limits(read_embedding, R"({"encoding_format":"int8","dimensions":5})")),
            "input: is missing\nmodel: is missing\nencoding_format: must be \"float\" or \"base64\"\ndimensions: is "
            "not served\n");
}

TEST(EmbeddingRequest, nims_members) {
  EXPECT_EQ(
      test::faults(with_limits(read_embedding, R"({"model":"m","input":"a","input_type":"query","truncate":"NONE"})")),
      "");
  EXPECT_EQ(test::faults(with_limits(read_embedding, R"({"model":"m","input":"a","truncate":"END"})")),
            "truncate: is not served\n");
}

TEST(TokenizeRequest, reads) {
  const auto text = with_limits(read_tokenize, R"({"prompt":"x"})");
  EXPECT_TRUE(text->add_special_tokens);
  EXPECT_FALSE(text->chat.has_value());
  const auto chat =
      with_limits(read_tokenize, R"({"messages":[{"role":"user","content":"x"}],"add_generation_prompt":false})");
  EXPECT_FALSE(chat->add_special_tokens);
  EXPECT_FALSE(chat->chat->add_generation_prompt);
  EXPECT_EQ(test::faults(with_limits(read_tokenize, "{}")), "prompt: is missing, and \"messages\" as well\n");
  EXPECT_EQ(test::faults(with_limits(read_tokenize, R"({"prompt":"x","messages":[]})")),
            "prompt: is given beside \"messages\"\n");
  EXPECT_EQ(with_limits(read_detokenize, R"({"tokens":[]})")->tokens.size(), 0U);
  EXPECT_EQ(test::faults(with_limits(read_detokenize, R"({"tokens":"x"})")), "tokens: must be a list of token ids\n");
}

TEST(AdapterRequests, read) {
  const auto got = test::read_body(read_load_adapter, R"({"lora_name":"a/b@1","lora_path":"/p","load_inplace":true})");
  EXPECT_EQ(got->name, "a/b@1");
  EXPECT_TRUE(got->in_place);
  EXPECT_EQ(test::faults(test::read_body(read_load_adapter, R"({"lora_name":""})")),
            "lora_name: is missing\nlora_path: is missing\n");
  EXPECT_EQ(test::faults(test::read_body(read_unload_adapter, R"({"lora_name":"a b"})")),
            "lora_name: must be a name of at most 255 bytes without blanks\n");
}

}  // namespace
}  // namespace stackgate::inference
