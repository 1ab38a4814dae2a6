// The eight gauges of the specification: which values they have, and what they count.
#include "reconcile/control/reconcile_metrics.hpp"

#include <algorithm>

#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tests/reconcile/control/parsed.hpp"

namespace stackgate::reconcile {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;
using ::testing::SizeIs;
using tests::Parsed;

Parsed resource(std::string_view name, int version, std::string_view status) {
  return Parsed(fmt::format(
      R"({{"metadata":{{"name":"{0}","namespace":"ml","uid":"uid-{0}","resourceVersion":"{1}"}},"spec":{{}})"
      R"({2}}})",
      name, version, status));
}
Parsed in_state(std::string_view name, int version, std::string_view state) {
  return resource(name, version, fmt::format(R"(,"status":{{"state":"{}"}})", state));
}

class StatusGauges : public ::testing::Test {
 protected:
  metrics::Registry registry;
  ReconcileMetrics telemetry{registry};
  cluster::State state{cluster::State::Contents::yes};
  Store store{state, [](const Key&) {}};

  /// The lines of a scrape that begin with the prefix, without it.
  std::vector<std::string> scraped(std::string_view prefix, std::string_view suffix = "") {
    telemetry.count_states(store);
    std::vector<std::string> out;
    const std::string text = registry.render();
    for (std::size_t at = 0; at < text.size();) {
      const std::size_t end = text.find('\n', at);
      const std::string_view line = std::string_view(text).substr(at, end - at);
      if (line.starts_with(prefix) && line.ends_with(suffix)) out.emplace_back(line.substr(prefix.size()));
      at = end + 1;
    }
    std::ranges::sort(out);
    return out;
  }
};

TEST_F(StatusGauges, have_every_state_of_every_kind_before_there_is_a_resource) {
  EXPECT_THAT(scraped("inferenceService_status_total{status="),
              ElementsAre(R"("Failed"} 0)", R"("NotReady"} 0)", R"("Pending"} 0)", R"("Ready"} 0)", R"("Unknown"} 0)"));
  EXPECT_THAT(scraped("inferenceCache_status_total{status="),
              ElementsAre(R"("Failed"} 0)", R"("InProgress"} 0)", R"("NotReady"} 0)", R"("PVCCreated"} 0)",
                          R"("Pending"} 0)", R"("Ready"} 0)", R"("Started"} 0)", R"("Unknown"} 0)"));
  EXPECT_THAT(scraped("inferencePipeline_status_total{status="),
              ElementsAre(R"("Failed"} 0)", R"("NotReady"} 0)", R"("Ready"} 0)", R"("Unknown"} 0)"));
  for (const char* kind : {"datastore", "entitystore", "customizer", "evaluator", "guardrail"})
    EXPECT_THAT(scraped(fmt::format("stack_{}_status_total{{", kind), "} 0"), SizeIs(5)) << kind;
}

TEST_F(StatusGauges, count_a_resource_in_its_state_and_in_no_other) {
  state.sink(crds::Kind::inference_cache).upsert(in_state("a", 1, "PVCCreated"));
  state.sink(crds::Kind::inference_cache).upsert(in_state("b", 2, "Ready"));
  state.sink(crds::Kind::inference_cache).upsert(in_state("c", 3, "Ready"));
  EXPECT_THAT(scraped("inferenceCache_status_total{status=\"PVCCreated\"}"), ElementsAre(" 1"));
  EXPECT_THAT(scraped("inferenceCache_status_total{status=\"Ready\"}"), ElementsAre(" 2"));
  EXPECT_THAT(scraped("inferenceCache_status_total{", "} 0"), SizeIs(6));
  EXPECT_THAT(scraped("inferenceService_status_total{status=\"Ready\"}"), ElementsAre(" 0"));
}

TEST_F(StatusGauges, follow_a_change_and_a_deletion) {
  state.sink(crds::Kind::stack_guardrail).upsert(in_state("a", 1, "Pending"));
  scraped("");
  state.sink(crds::Kind::stack_guardrail).upsert(in_state("a", 2, "Failed"));
  EXPECT_THAT(scraped("stack_guardrail_status_total{status=\"Pending\"}"), ElementsAre(" 0"));
  EXPECT_THAT(scraped("stack_guardrail_status_total{status=\"Failed\"}"), ElementsAre(" 1"));
  state.sink(crds::Kind::stack_guardrail).remove(in_state("a", 3, "Failed"));
  EXPECT_THAT(scraped("stack_guardrail_status_total{", "} 0"), SizeIs(5));
}

TEST_F(StatusGauges, call_unknown_what_says_nothing_or_another_kinds_word) {
  state.sink(crds::Kind::inference_pipeline).upsert(resource("new", 1, ""));
  state.sink(crds::Kind::inference_pipeline).upsert(resource("empty", 2, R"(,"status":{})"));
  state.sink(crds::Kind::inference_pipeline).upsert(in_state("other", 3, "PVCCreated"));
  state.sink(crds::Kind::inference_pipeline).upsert(in_state("said", 4, "Unknown"));
  EXPECT_THAT(scraped("inferencePipeline_status_total{status=\"Unknown\"}"), ElementsAre(" 4"));
  EXPECT_THAT(scraped("inferencePipeline_status_total{status=\"PVCCreated\"}"), IsEmpty());
}

}  // namespace
}  // namespace stackgate::reconcile
