#include "services/evaluator/endpoint/protocol/embeddings.hpp"

#include <cmath>
#include <cstring>

#include <gmock/gmock.h>

#include "services/kit/base/base64.hpp"

namespace stackgate::evaluator {
namespace {

using testing::ElementsAre;

std::string in_base64(std::initializer_list<float> values) {
  std::string bytes(values.size() * sizeof(float), '\0');
  std::memcpy(bytes.data(), values.begin(), bytes.size());
  return base64::encode(bytes);
}

TEST(Embeddings, are_asked_for_as_numbers) {
  const std::vector<std::string> texts = {"one", "two \"2\""};
  EXPECT_EQ(write_embeddings(texts, "m"), R"({"model":"m","input":["one","two \"2\""],"encoding_format":"float"})");
}

TEST(Embeddings, are_read_in_the_order_of_their_texts) {
  const auto read =
      read_embeddings(R"({"data":[{"index":1,"embedding":[3,4.5]},{"index":0,"embedding":[1,-2]}],"usage":{}})", 2);
  ASSERT_TRUE(read) << read.error();
  EXPECT_EQ(read->dimension, 2U);
  EXPECT_THAT(read->values, ElementsAre(1, -2, 3, 4.5));
  EXPECT_THAT(read_embeddings(R"({"data":[{"embedding":[1]},{"embedding":[2]}]})", 2)->values, ElementsAre(1, 2));
}

TEST(Embeddings, are_read_from_base64) {
  const auto read = read_embeddings(R"({"data":[{"index":0,"embedding":")" + in_base64({0.5F, -1}) + R"("}]})", 1);
  ASSERT_TRUE(read) << read.error();
  EXPECT_THAT(read->values, ElementsAre(0.5F, -1));
}

TEST(Embeddings, that_are_none_are_refused_with_the_reason) {
  const std::pair<std::string, std::string> table[] = {
      {"<html>", "is no JSON"},
      {"{}", "another number of vectors"},
      {R"({"data":[]})", "another number of vectors"},
      {R"({"data":[{"embedding":[1]},{"embedding":[1]}]})", "another number of vectors"},
      {R"({"data":[{"index":1,"embedding":[1]}]})", "two vectors for one text"},
      {R"({"data":[{"index":-1,"embedding":[1]}]})", "two vectors for one text"},
      {R"({"data":[{"embedding":[]}]})", "no vector where one is due"},
      {R"({"data":[{"embedding":[1,"2"]}]})", "no vector where one is due"},
      {R"({"data":[{"embedding":[1,null]}]})", "no vector where one is due"},
      {R"({"data":[{"embedding":"AAA"}]})", "no vector where one is due"},
      {R"({"data":[{"embedding":"AAAA"}]})", "no vector where one is due"},
      {R"({"data":[{"embedding":{"0":1}}]})", "no vector where one is due"},
      {R"({"data":[{"embedding":[1e39]}]})", "no number"},
      {R"({"data":[{"embedding":")" + in_base64({1, NAN}) + R"("}]})", "no number"},
  };
  for (const auto& [body, reason] : table) {
    const auto read = read_embeddings(body, 1);
    ASSERT_FALSE(read) << body;
    EXPECT_THAT(read.error(), testing::HasSubstr(reason)) << body;
  }
  EXPECT_THAT(read_embeddings(R"({"data":[{"embedding":[1]},{"embedding":[1,2]}]})", 2).error(),
              testing::HasSubstr("different dimensions"));
}

}  // namespace
}  // namespace stackgate::evaluator
