// Objects far beyond what the schema allows: the rules still run on them, so their work must be bounded.
#include <chrono>

#include <gtest/gtest.h>

#include "services/kit/json/parse.hpp"
#include "validators/rulebook.hpp"

namespace stackgate::validate::tests {
namespace {

TEST(Bounds, FiftyThousandResourcesAreReviewedWithinSeconds) {
  std::string map = "{";
  for (int i = 0; i < 50'000; ++i) map += (i > 0 ? ",\"x" : "\"x") + std::to_string(i) + "\":1";
  map += "}";
  const auto object = [&](const char* replicas) {
    return std::string(
               R"({"apiVersion":"stackgate.dev/v1alpha1","kind":"InferenceService","metadata":{"name":"x"},"spec":{"replicas":)") +
           replicas + R"(,"resources":{"requests":)" + map + R"(,"limits":)" + map + "}}}";
  };
  const std::string old_text = object("1");
  const std::string text = object("2");
  json::Document old_document;
  json::Document document;
  const auto old = json::parse(old_text, old_document);
  const auto now = json::parse(text, document);
  ASSERT_TRUE(old && now);
  const auto begin = std::chrono::steady_clock::now();
  const Findings findings =
      review({.kind = crds::Kind::inference_service, .object = &*now, .old = &*old, .ns = "default"}, nullptr);
  EXPECT_LT(std::chrono::steady_clock::now() - begin, std::chrono::seconds(5));
  EXPECT_LE(findings.size(), 2'100U);
  EXPECT_TRUE(has_errors(findings)) << "with so many old faults none may count as old";
}

}  // namespace
}  // namespace stackgate::validate::tests
