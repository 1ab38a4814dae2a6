// The table of reconcile/status/README.md for pipelines.
#include "reconcile/status/pipeline.hpp"

#include <deque>

#include <fmt/format.h>
#include <gtest/gtest.h>

#include "tests/support/parsed.hpp"

namespace stackgate::reconcile::tests {
namespace pipelines {

/// Of the entries a, b, c…: "Ready", another state, "stale" (Ready for an older spec), "new" (no status yet), "-" (no
/// such object) or "foreign".
Status status_of(const std::vector<std::string_view>& words, const std::vector<std::vector<std::string>>& needs = {}) {
  std::deque<test::Parsed> services;
  std::vector<PipelineEntry> entries;
  for (const std::string_view word : words) {
    PipelineEntry entry{.name = std::string(1, static_cast<char>('a' + entries.size())),
                        .name_taken = word == "foreign"};
    if (entries.size() < needs.size()) entry.needs = needs[entries.size()];
    if (word == "new") {
      services.emplace_back(R"({"metadata": {"generation": 2}})");
    } else {
      services.emplace_back(fmt::format(
          R"({{"metadata": {{"generation": 2}}, "status": {{"observedGeneration": {}, "state": "{}", "conditions": [{{"type": "Ready", "reason": "Why", "message": "because"}}]}}}})",
          word == "stale" ? 1 : 2, word == "stale" ? "Ready" : word));
    }
    if (word != "-" && word != "foreign") entry.service = services.back().get();
    entries.push_back(std::move(entry));
  }
  return pipeline_status(entries);
}

struct Case {
  std::vector<std::string_view> services;
  State state;
  std::string_view reason, message;
};

class Pipelines : public ::testing::TestWithParam<Case> {};

TEST_P(Pipelines, HaveTheStateOfTheirServices) {
  const Status status = status_of(GetParam().services);
  EXPECT_EQ(to_string(status.state), to_string(GetParam().state));
  ASSERT_EQ(status.conditions.size(), 1U);
  EXPECT_EQ(status.conditions[0].reason, GetParam().reason);
  EXPECT_EQ(status.conditions[0].message, GetParam().message);
  EXPECT_EQ(status.services.size(), GetParam().services.size());
}

constexpr std::string_view taken =
    "there is another InferenceService named b that does not belong to this pipeline; delete it or rename the entry; "
    "that is looked at again every 30 s";

INSTANTIATE_TEST_SUITE_P(
    Table, Pipelines,
    ::testing::Values(Case{{"Ready", "Ready"}, State::ready, "AllServicesReady", "all 2 services are ready"},
                      Case{{}, State::ready, "NothingEnabled", "no service is enabled"},
                      Case{{"Ready", "-"}, State::not_ready, "ServicesNotReady", "b is Pending"},
                      Case{{"Ready", "new"}, State::not_ready, "ServicesNotReady", "b is Pending"},
                      Case{{"Ready", "stale"}, State::not_ready, "ServicesNotReady", "b is NotReady (Why): because"},
                      Case{{"NotReady", "Pending"},
                           State::not_ready,
                           "ServicesNotReady",
                           "a is NotReady (Why): because; b is Pending (Why): because"},
                      Case{{"Ready", "Unknown"}, State::unknown, "ServicesUnknown", "b is Unknown (Why): because"},
                      Case{{"Ready", "Odd"}, State::unknown, "ServicesUnknown", "b is Unknown (Why): because"},
                      Case{{"Ready", "PVCCreated"}, State::unknown, "ServicesUnknown", "b is Unknown (Why): because"},
                      Case{{"Pending", "Unknown"},
                           State::not_ready,
                           "ServicesNotReady",
                           "a is Pending (Why): because; b is Unknown (Why): because"},
                      Case{{"Pending", "Failed"}, State::failed, "ServiceFailed", "b is Failed (Why): because"},
                      Case{{"Ready", "foreign"}, State::failed, "NameTaken", taken},
                      Case{{"Failed", "foreign"}, State::failed, "NameTaken", taken},
                      Case{std::vector<std::string_view>(7, "-"), State::not_ready, "ServicesNotReady",
                           "a is Pending; b is Pending; c is Pending; d is Pending; e is Pending; and 2 more"}));

TEST(Pipelines, TellTheStateOfEachService) {
  EXPECT_EQ(status_of({"Ready", "foreign", "-", "Unknown", "NotReady"}).services,
            (std::map<std::string, std::string>{
                {"a", "Ready"}, {"b", "Failed"}, {"c", "Pending"}, {"d", "Unknown"}, {"e", "NotReady"}}));
}

TEST(Pipelines, TellWhetherTheDependenciesAreReady) {
  const auto told = [](const std::vector<std::string_view>& services,
                       const std::vector<std::vector<std::string>>& needs) {
    const Status status = status_of(services, needs);
    if (status.conditions.size() < 2) return std::string();
    const Condition& each = status.conditions[1];
    return fmt::format("{}={} {}: {}", each.type, each.status, each.reason, each.message);
  };
  EXPECT_EQ(told({"Ready", "Pending"}, {}), "");
  EXPECT_EQ(told({"Pending", "Ready"}, {{"b"}}),
            "DependenciesReady=True AllDependenciesReady: what the services need is ready");
  EXPECT_EQ(told({"Pending", "Pending"}, {{"b"}}),
            "DependenciesReady=False DependencyNotReady: a needs b, which is Pending");
  EXPECT_EQ(told({"Ready", "Ready"}, {{"b", "z"}}),
            "DependenciesReady=False DependencyNotReady: a needs z, which is not enabled");
}

}  // namespace pipelines
}  // namespace stackgate::reconcile::tests
