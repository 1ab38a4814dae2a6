// Pods with parts of them replaced by anything: none makes pod_facts() fall, and its words stay within bounds.
#include <array>

#include <gtest/gtest.h>

#include "services/kit/json/write.hpp"
#include "services/kit/pod_problems/pod.hpp"
#include "tests/kit/pod_problems/pods.hpp"
#include "tests/support/dice.hpp"
#include "tests/support/parsed.hpp"

namespace stackgate::pods::tests {
namespace damage {

constexpr std::array<std::string_view, 8> anything{"null", "7", "-1", "\"\"", "\"\\u00fc \\\" {\"", "[]", "{}", "true"};
constexpr std::array<std::string_view, 5> states{
    R"("restartCount": 6, "state": {"waiting": {"reason": "CrashLoopBackOff", "message": "m"}}, "lastState": {"terminated": {"exitCode": 1, "reason": "Error", "message": "a\nb", "startedAt": "2026-11-20T09:59:50Z", "finishedAt": "2026-11-20T09:59:58Z"}})",
    R"("state": {"waiting": {"reason": "ErrImagePull", "message": "Back-off pulling image: ErrImagePull: not found"}})",
    R"("state": {"waiting": {"reason": "CreateContainerConfigError", "message": "couldn't find key a in Secret b/c"}})",
    R"("state": {"running": {"startedAt": "2026-11-20T10:00:10Z"}}, "lastState": {"terminated": {"exitCode": 137}})",
    R"("state": {"terminated": {"exitCode": 128, "reason": "StartError", "message": "m"}})"};
constexpr std::array<std::string_view, 3> scheduled{
    R"("status": "True")",
    R"("status": "False", "reason": "Unschedulable", "message": "0/4 nodes are available: 1 node(s) had untolerated taint {a: b}, 3 Insufficient nvidia.com/gpu. preemption: none")",
    R"("status": "False", "reason": "Unschedulable", "message": "persistentvolumeclaim \"a\" not found")"};

void write_damaged(json::Writer& w, const json::Value& value, testing::Dice& dice) {
  if (dice.chance(4)) return w.raw(dice.pick(anything));
  if (value.is_object()) {
    w.object([&] {
      for (const json::Member& each : value.members()) {
        if (dice.chance(3)) continue;
        w.key(each.key);
        write_damaged(w, each.value, dice);
      }
    });
  } else if (value.is_array()) {
    w.array([&] {
      for (const json::Value& each : value.items()) write_damaged(w, each, dice);
    });
  } else if (value.is_string() && dice.chance(10)) {
    w.value(value.string().substr(dice.roll(value.string().size() + 1)));
  } else {
    w.value(value);
  }
}

TEST(DamagedPods, AreReadAsFarAsTheyCanBe) {
  std::size_t troubled = 0;
  for (std::uint64_t seed = 1; seed <= 3000; ++seed) {
    testing::Dice dice(seed);
    const test::Parsed whole(pod_text({.phase = dice.chance(50) ? "Running" : "Failed",
                                       .scheduled = dice.pick(scheduled),
                                       .container = dice.pick(states),
                                       .init = dice.chance(50) ? dice.pick(states) : std::string_view{}}));
    std::string text;
    json::Writer w(text);
    write_damaged(w, *whole, dice);
    const test::Parsed pod(text);
    const PodFacts facts = pod_facts(*pod);
    if (!facts.problem) continue;
    ++troubled;
    ASSERT_FALSE(facts.problem->reason.empty()) << text;
    ASSERT_FALSE(facts.problem->message.empty()) << text;
    ASSERT_LE(facts.problem->message.size(), 4096U) << text;
  }
  EXPECT_GT(troubled, 1000U) << "most of them still tell something";
}

}  // namespace damage
}  // namespace stackgate::pods::tests
