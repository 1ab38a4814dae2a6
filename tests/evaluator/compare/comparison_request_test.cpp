#include "services/evaluator/compare/comparison_request.hpp"

#include <gmock/gmock.h>

#include "services/kit/json/parse.hpp"

namespace stackgate::evaluator {
namespace {

using testing::ElementsAre;

std::expected<ComparisonRequest, validate::Findings> read(std::string_view text) {
  json::Document document;
  return read_comparison(json::parse(text, document).value());
}

std::vector<std::string> faults(const std::expected<ComparisonRequest, validate::Findings>& result) {
  std::vector<std::string> out;
  if (!result)
    for (const auto& each : result.error()) out.push_back(each.path);
  return out;
}

TEST(ComparisonRequest, has_defaults) {
  const auto request = read(R"({"evaluations": ["a", "b"]})");
  ASSERT_TRUE(request);
  EXPECT_THAT(request->evaluations, ElementsAre("a", "b"));
  EXPECT_EQ(request->baseline, "a");
  EXPECT_EQ(request->confidence, 0.95);
  EXPECT_FALSE(request->force);
}

TEST(ComparisonRequest, is_read_whole) {
  const auto request = read(R"({"evaluations": ["a", "b"], "baseline": "b", "confidence": 0.9, "force": true})");
  ASSERT_TRUE(request);
  EXPECT_EQ(request->baseline, "b");
  EXPECT_EQ(request->confidence, 0.9);
  EXPECT_TRUE(request->force);
}

TEST(ComparisonRequest, reports_every_fault_with_its_place) {
  const auto request = read(R"({"evaluations": ["a", "b", "a"], "baseline": "c", "confidence": 2, "forces": true})");
  EXPECT_THAT(faults(request), testing::UnorderedElementsAre("evaluations[2]", "baseline", "confidence", "forces"));
  EXPECT_THAT(faults(read(R"({"evaluations": ["a"]})")), ElementsAre("evaluations"));
  EXPECT_THAT(faults(read(R"({})")), ElementsAre("evaluations"));
  EXPECT_THAT(faults(read(R"({"evaluations": "a,b"})")), ElementsAre("evaluations"));
  EXPECT_FALSE(read("[]"));
}

TEST(ComparisonRequest, of_a_query_has_the_same_rules) {
  const auto request = read_comparison_query("a,b,,c", "", true);
  ASSERT_TRUE(request);
  EXPECT_THAT(request->evaluations, ElementsAre("a", "b", "c"));
  EXPECT_EQ(request->baseline, "a");
  EXPECT_TRUE(request->force);
  EXPECT_THAT(faults(read_comparison_query("", "", false)), ElementsAre("evaluations"));
  EXPECT_THAT(faults(read_comparison_query("a,a", "b", false)), ElementsAre("evaluations[1]", "baseline"));
  EXPECT_THAT(faults(read_comparison_query("a,b,c,d,e,f,g,h,i", "", false)), ElementsAre("evaluations"));
}

}  // namespace
}  // namespace stackgate::evaluator
