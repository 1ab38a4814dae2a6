#include "services/evaluator/runs/adapter.hpp"

#include <gmock/gmock.h>

namespace stackgate::evaluator {
namespace {

using testing::HasSubstr;

std::string adapter(std::string_view name, std::string_view version, std::string_view status, std::string_view at) {
  return std::string(R"({"id":"a-)").append(version) + R"(","name":")" + std::string(name) + R"(","version":")" +
         std::string(version) + R"(","base_model":"llama","status":")" + std::string(status) + R"(","created_at":")" +
         std::string(at) + R"(","other":1})";
}

std::string list(std::initializer_list<std::string> adapters) {
  std::string out = R"({"adapters":[)";
  for (const std::string& each : adapters) out += (out.ends_with('[') ? "" : ",") + each;
  return out + "]}";
}

TEST(Adapter, is_the_newest_that_is_ready) {
  const auto found = read_adapters(list({adapter("mine", "1", "ready", "2026-01-01T00:00:00Z"),
                                         adapter("mine", "2", "ready", "2026-02-01T00:00:00Z"),
                                         adapter("mine", "3", "pending", "2026-03-01T00:00:00Z"),
                                         adapter("mine-too", "9", "ready", "2026-04-01T00:00:00Z")}),
                                   "mine");
  ASSERT_TRUE(found);
  EXPECT_EQ(found->json, R"({"id":"a-2","name":"mine","version":"2","base_model":"llama","status":"ready"})");
  EXPECT_EQ(found->problem, "");
}

TEST(Adapter, that_is_not_ready_is_a_problem) {
  const auto found = read_adapters(
      list({adapter("mine", "1", "failed", "2026-01-01"), adapter("mine", "2", "pending", "2026-01-02")}), "mine");
  ASSERT_TRUE(found);
  EXPECT_THAT(found->json, HasSubstr(R"("version":"2")"));
  EXPECT_EQ(found->problem, "is an adapter that is pending in the entitystore");
}

TEST(Adapter, that_is_not_there_is_none) {
  for (const std::string& body :
       {list({}), list({adapter("other", "1", "ready", "x")}), std::string(R"({"adapters":[1,null]})")}) {
    const auto found = read_adapters(body, "mine");
    ASSERT_TRUE(found) << body;
    EXPECT_EQ(found->json, "") << body;
    EXPECT_EQ(found->problem, "") << body;
  }
}

TEST(Adapter, of_an_answer_that_is_none) {
  for (const char* body : {"", "<html>", "[]", "{}"}) EXPECT_FALSE(read_adapters(body, "mine")) << body;
  EXPECT_THAT(look_up_adapter("http://127.0.0.1:1", "mine", std::chrono::seconds(2)).error(),
              HasSubstr("cannot be reached"));
}

}  // namespace
}  // namespace stackgate::evaluator
