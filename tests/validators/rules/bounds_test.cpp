// Objects far beyond what the schema allows: the rules still run on them, so their work must be bounded.
#include <algorithm>
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

TEST(Bounds, WhatIsLeftOutIsSaid) {
  const auto findings_of = [](int faults) {
    std::string text =
        R"({"apiVersion":"stackgate.dev/v1alpha1","kind":"InferenceService","metadata":{"name":"x"},"spec":{)";
    for (int i = 0; i < faults; ++i) text += (i > 0 ? ",\"x" : "\"x") + std::to_string(i) + "\":1";
    text += "}}";
    json::Document document;
    const auto object = json::parse(text, document);
    EXPECT_TRUE(object);
    return review({.kind = crds::Kind::inference_service, .object = &*object, .old = nullptr, .ns = "default"},
                  nullptr);
  };
  constexpr std::string_view more = "there are more findings than are listed here";
  const Findings few = findings_of(20);
  EXPECT_NE(few.back().problem, more);
  const Findings many = findings_of(150);
  EXPECT_EQ(many.back().problem, more);
  EXPECT_EQ(many.back().severity, Severity::error);
  EXPECT_EQ(std::ranges::count(many, more, &Finding::problem), 1);
  EXPECT_FALSE(many.back().fix.empty());
}

}  // namespace
}  // namespace stackgate::validate::tests
