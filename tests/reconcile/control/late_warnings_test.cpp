// When what is missing is warned of: not at once, not twice, not after a restart.
#include "reconcile/control/late_warnings.hpp"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include "services/kit/base/time.hpp"
#include "tests/reconcile/control/parsed.hpp"

namespace stackgate::reconcile {
namespace {

using std::chrono::seconds;
using tests::Parsed;

constexpr std::string_view since = "2026-11-22T01:00:00Z";

class Late : public ::testing::Test {
 protected:
  LateWarnings warnings;
  const Key key{crds::Kind::inference_service, "ml", "llm"};
  std::vector<std::string> told;

  /// Looks at it `after` that time; "" for a status that says nothing of it yet.
  std::optional<seconds> look(int after, std::string_view when = since, bool misses = true) {
    const Parsed object(when.empty() ? "{}"
                                     : fmt::format(R"({{"conditions":[{{"type":"ReferencesResolved","status":"False",
                                  "lastTransitionTime":"{}"}}]}})",
                                                   when));
    const json::Value& status = object;
    const Resource resource{.kind = key.kind, .ns = key.ns, .name = key.name, .uid = "u", .status = &status};
    Plan plan;
    if (misses) plan.late_events.push_back({true, "SecretNotFound", "no secret"});
    const std::chrono::system_clock::time_point now = *from_rfc3339(since) + seconds(after);
    return warnings.warn(key, resource, plan, now,
                         [&](const Resource&, const EventNote& note) { told.push_back(note.reason); });
  }
};

TEST_F(Late, nothing_is_told_before_its_time_and_the_resource_is_looked_at_then) {
  EXPECT_EQ(look(0, ""), seconds(11));
  EXPECT_EQ(look(0), seconds(11));
  EXPECT_EQ(look(9), seconds(2));
  EXPECT_TRUE(told.empty());
}

TEST_F(Late, it_is_told_once) {
  EXPECT_EQ(look(11), std::nullopt);
  EXPECT_EQ(look(12), std::nullopt);
  EXPECT_EQ(told, std::vector<std::string>{"SecretNotFound"});
}

TEST_F(Late, what_was_missing_long_before_a_start_has_been_told) {
  EXPECT_EQ(look(60), std::nullopt);
  EXPECT_TRUE(told.empty());
}

TEST_F(Late, what_came_in_time_is_not_told) {
  look(0);
  EXPECT_EQ(look(11, "", false), std::nullopt);
  EXPECT_TRUE(told.empty());
}

TEST_F(Late, a_resource_that_went_is_forgotten) {
  look(11);
  warnings.forget(key);
  look(12);
  EXPECT_EQ(told.size(), 2U) << "a namesake made within the second";
}

TEST_F(Late, what_is_missing_again_is_told_again) {
  look(11);
  look(12, "", false);
  EXPECT_EQ(look(20, "2026-11-22T01:00:15Z"), seconds(6));
  look(26, "2026-11-22T01:00:15Z");
  EXPECT_EQ(told.size(), 2U);
}

}  // namespace
}  // namespace stackgate::reconcile
