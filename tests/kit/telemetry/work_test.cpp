#include "services/kit/telemetry/work.hpp"

#include <map>
#include <vector>

#include <gtest/gtest.h>

namespace stackgate::telemetry {
namespace {

/// Keeps what is recorded.
class Keeping final : public Telemetry {
 public:
  std::function<bool(const http::Request&, const web::TraceContext&, bool)> sampler() override { return {}; }
  std::function<void(const web::Served&)> observer() override { return {}; }
  std::function<void(Span)> recorder(std::string_view, std::optional<bool> sampled) override {
    if (!sampled.value_or(true)) return {};
    return [this](Span span) { spans.push_back(std::move(span)); };
  }
  void shutdown(std::chrono::milliseconds) override {}

  std::vector<Span> spans;
};

TEST(Work, has_parts_inside_parts) {
  Keeping telemetry;
  Work work(telemetry, "00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01");
  {
    Part run(work, "train", {{"rank", std::int64_t{0}}});
    EXPECT_EQ(current_trace()->trace_id, "4bf92f3577b34da6a3ce929d0e0e4736");
    const std::string outer(current_trace()->span_id);
    {
      const Part load(work, "load");
      EXPECT_NE(current_trace()->span_id, outer);
    }
    EXPECT_EQ(current_trace()->span_id, outer);
    const Part write(work, "write");
    run.set("steps", std::int64_t{12});
    run.fail("a disk is full");
  }
  EXPECT_EQ(current_trace(), nullptr);
  ASSERT_EQ(telemetry.spans.size(), 3U);
  const Span &load = telemetry.spans[0], &write = telemetry.spans[1], &run = telemetry.spans[2];
  EXPECT_EQ(run.name, "train");
  EXPECT_EQ(run.parent_id, "00f067aa0ba902b7");
  EXPECT_EQ(load.parent_id, run.span_id);
  EXPECT_EQ(write.parent_id, run.span_id);
  EXPECT_EQ(run.kind, Span::Kind::internal);
  EXPECT_EQ(run.attributes, (Attributes{{"rank", std::int64_t{0}}, {"steps", std::int64_t{12}}}));
  EXPECT_TRUE(run.failed);
  EXPECT_EQ(run.failure, "a disk is full");
  EXPECT_LE(run.began, load.began);
  EXPECT_LE(load.ended, run.ended);
  for (const Span& each : telemetry.spans) EXPECT_EQ(each.trace_id, "4bf92f3577b34da6a3ce929d0e0e4736");
}

TEST(Work, begins_a_trace_where_nobody_did) {
  for (const std::string_view caller : {"", "00-junk"}) {
    Keeping telemetry;
    Work work(telemetry, caller);
    {
      const Part part(work, "train");
    }
    ASSERT_EQ(telemetry.spans.size(), 1U);
    EXPECT_EQ(telemetry.spans[0].trace_id.size(), 32U);
    EXPECT_TRUE(telemetry.spans[0].parent_id.empty());
  }
}

TEST(Work, that_is_not_sampled_records_nothing) {
  Keeping telemetry;
  Work unsampled(telemetry, "00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-00"), none;
  for (Work* each : {&unsampled, &none}) {
    Part part(*each, "train");
    part.set("a", true);
    part.fail("no");
    EXPECT_EQ(current_trace(), nullptr);
  }
  EXPECT_TRUE(telemetry.spans.empty());
}

}  // namespace
}  // namespace stackgate::telemetry
