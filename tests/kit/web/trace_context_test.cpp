#include "services/kit/web/trace_context.hpp"

#include <set>

#include <gtest/gtest.h>

namespace stackgate::web {
namespace {

constexpr std::string_view good = "00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01";

TEST(TraceContext, ReadsTraceparentAsTheRecommendationHasIt) {
  const auto parent = parse_traceparent(good);
  ASSERT_TRUE(parent);
  EXPECT_EQ(parent->trace_id, "0af7651916cd43dd8448eb211c80319c");
  EXPECT_EQ(parent->parent_id, "b7ad6b7169203331");
  EXPECT_TRUE(parent->sampled);
  const struct {
    std::string_view text;
    bool valid, sampled;
  } cases[] = {
      {"00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-00", true, false},
      {"00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-03", true, true},
      {"00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-fe", true, false},
      {" 00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01 ", true, true},
      {"cc-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01", true, true},
      {"cc-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01-what-the-future", true, true},
      {"cc-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01.x", false, false},
      {"00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01-x", false, false},
      {"ff-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01", false, false},
      {"00-00000000000000000000000000000000-b7ad6b7169203331-01", false, false},
      {"00-0af7651916cd43dd8448eb211c80319c-0000000000000000-01", false, false},
      {"00-0AF7651916CD43DD8448EB211C80319C-b7ad6b7169203331-01", false, false},
      {"00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-1", false, false},
      {"00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-0g", false, false},
      {"00-0af7651916cd43dd8448eb211c80319-b7ad6b7169203331-01a", false, false},
      {"00_0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01", false, false},
      {"", false, false},
  };
  for (const auto& each : cases) {
    const auto got = parse_traceparent(each.text);
    EXPECT_EQ(got.has_value(), each.valid) << each.text;
    if (got) {
      EXPECT_EQ(got->sampled, each.sampled) << each.text;
    }
  }
}

TEST(TraceContext, KnowsATracestate) {
  std::string many;
  for (int i = 0; i < 33; ++i) many += "k" + std::to_string(i) + "=v,";
  const struct {
    std::string text;
    bool valid;
  } cases[] = {
      {"congo=t61rcWkgMzE", true},
      {"a=1,b=2", true},
      {"a=1 , b=2", true},
      {"1t@sys=x", true},
      {"a=1,,b=2", true},
      {"a=1,a=2", false},
      {"A=1", false},
      {"a", false},
      {"a=", false},
      {"a=b=c", false},
      {"=1", false},
      {"1a=x", false},
      {"", false},
      {",", false},
      {many, false},
      {"a=" + std::string(257, 'x'), false},
      {"a@b@c=1", false},
      {"a=\x01", false},
      {std::string(600, 'a'), false},
  };
  for (const auto& each : cases) EXPECT_EQ(is_tracestate(each.text), each.valid) << each.text;
}

TEST(TraceContext, ContinuesTheCallersTraceWithASpanOfItsOwn) {
  const TraceContext context = continue_trace(good, "congo=1");
  EXPECT_EQ(context.trace_id, "0af7651916cd43dd8448eb211c80319c");
  EXPECT_EQ(context.parent_id, "b7ad6b7169203331");
  EXPECT_NE(context.span_id, context.parent_id);
  EXPECT_EQ(context.state, "congo=1");
  EXPECT_TRUE(context.sampled);
  EXPECT_EQ(continue_trace(good, "broken").state, "");
}

TEST(TraceContext, BeginsANewTraceOtherwise) {
  std::set<std::string> ids;
  for (int i = 0; i < 1000; ++i) {
    const TraceContext context = continue_trace(i % 2 == 0 ? "" : "00-broken", "congo=1", i % 4 == 0);
    EXPECT_TRUE(parse_traceparent("00-" + context.trace_id + "-" + context.span_id + "-00"));
    EXPECT_EQ(context.parent_id, "");
    EXPECT_EQ(context.state, "");
    EXPECT_EQ(context.sampled, i % 4 == 0);
    ids.insert(context.trace_id);
  }
  EXPECT_EQ(ids.size(), 1000U);
}

}  // namespace
}  // namespace stackgate::web
