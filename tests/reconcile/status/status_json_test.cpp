#include <gtest/gtest.h>

#include "reconcile/status/status.hpp"
#include "services/kit/json/write.hpp"
#include "services/kit/schema/check.hpp"
#include "tests/support/dice.hpp"
#include "tests/support/parsed.hpp"
#include "validators/schemas.hpp"

namespace stackgate::reconcile::tests {
namespace stored_status {

constexpr std::string_view morning = "2026-11-21T06:00:00Z", noon = "2026-11-21T12:00:00Z";

/// RFC 7386 over texts: what the API server makes of a patch.
void write_merged(json::Writer& w, const json::Value* old, const json::Value& patch) {
  if (!patch.is_object()) return w.value(patch);
  w.object([&] {
    if (old != nullptr)
      for (const json::Member& each : old->members())
        if (patch.find(each.key) == nullptr) w.key(each.key), w.value(each.value);
    for (const json::Member& each : patch.members()) {
      if (each.value.is_null()) continue;
      w.key(each.key);
      write_merged(w, old == nullptr ? nullptr : old->find(each.key), each.value);
    }
  });
}

std::string merged(std::string_view old, std::string_view patch) {
  const test::Parsed before{std::string(old)}, change{std::string(patch)};
  std::string out;
  json::Writer w(out);
  write_merged(w, before.get(), *change);
  return out;
}

/// The status after a write at `now`; `old` may be empty for none.
std::string stored_after(const Status& status, std::string_view old, std::string_view now,
                         std::int64_t generation = 1) {
  if (old.empty()) return status_json(status, generation, nullptr, now);
  const test::Parsed before{std::string(old)};
  const std::string patch = status_json(status, generation, before.get(), now);
  return patch.empty() ? std::string(old) : merged(old, patch);
}

Status simple(State state, std::string_view reason = "Because", std::string_view message = "it is so") {
  Status out{.state = state};
  out.conditions.push_back(ready_condition(state, reason, message));
  return out;
}

TEST(StatusJson, WritesWhatThereIs) {
  Status status = simple(State::in_progress);
  status.pvc = "llm-pvc";
  status.progress = Progress{50, 200};
  status.profiles = {{.name = "fp8", .release = "1.8", .model = "llm", .config = {{"engine", "x"}}}};
  EXPECT_EQ(
      status_json(status, 7, nullptr, morning),
      R"({"observedGeneration":7,"state":"InProgress","conditions":[{"type":"Ready","status":"False",)"
      R"("observedGeneration":7,"lastTransitionTime":"2026-11-21T06:00:00Z","reason":"Because","message":"it is so"}],)"
      R"("pvc":"llm-pvc","progress":{"downloadedBytes":50,"totalBytes":200,"percent":25},)"
      R"("profiles":[{"name":"fp8","release":"1.8","model":"llm","config":{"engine":"x"}}]})");
}

TEST(StatusJson, KeepsTheTimeUntilTheConditionsStatusTurns) {
  const std::string first = stored_after(simple(State::pending), "", morning);
  EXPECT_EQ(stored_after(simple(State::pending), first, noon), first);
  const std::string other_words = stored_after(simple(State::failed, "Other", "other words"), first, noon, 2);
  EXPECT_TRUE(other_words.contains("Other") && other_words.contains(morning) && !other_words.contains(noon))
      << other_words;
  const std::string ready = stored_after(simple(State::ready), first, noon);
  EXPECT_TRUE(ready.contains(noon) && !ready.contains(morning)) << ready;
}

TEST(StatusJson, TakesATimeThatTheApiServerWouldRefuseForNone) {
  const test::Parsed stored(
      R"({"conditions": [{"type": "Ready", "status": "False", "lastTransitionTime": "yesterday"}]})");
  EXPECT_TRUE(status_json(simple(State::failed), 1, stored.get(), noon).contains(noon));
}

TEST(StatusJson, IsEmptyOnlyWhenNothingDiffers) {
  const std::string first = stored_after(simple(State::pending), "", morning, 3);
  const test::Parsed stored(first);
  EXPECT_EQ(status_json(simple(State::pending), 3, stored.get(), noon), "");
  EXPECT_NE(status_json(simple(State::pending), 4, stored.get(), noon), "");
  EXPECT_NE(status_json(simple(State::unknown), 3, stored.get(), noon), "");
  EXPECT_NE(status_json(simple(State::pending, "Other"), 3, stored.get(), noon), "");
  EXPECT_NE(status_json(simple(State::pending, "Because", "otherwise"), 3, stored.get(), noon), "");
}

TEST(StatusJson, TakesBackWhatIsNoLongerTrue) {
  Status status = simple(State::not_ready);
  status.services = {{"a", "Ready"}, {"b", "Pending"}};
  status.progress = Progress{5, 10};
  const std::string first = stored_after(status, "", morning);
  status.services = {{"b", "Ready"}};
  status.progress = Progress{6, 0};
  const test::Parsed stored(first);
  EXPECT_TRUE(
      status_json(status, 1, stored.get(), noon)
          .contains(
              R"("progress":{"downloadedBytes":6,"totalBytes":0,"percent":null},"services":{"b":"Ready","a":null}})"));
  status.services.clear();
  status.progress.reset();
  const std::string last = stored_after(status, first, noon);
  EXPECT_EQ(last, stored_after(status, "", morning));
}

TEST(StatusJson, CutsTextsBetweenTwoCharacters) {
  std::string text;
  while (text.size() <= 32768) text += "ü";
  for (const std::string_view before : {"", "a", "aa", "aaa"}) {
    const std::string json =
        status_json(simple(State::failed, "Long", std::string(before) + text), 1, nullptr, morning);
    const test::Parsed parsed(json);  // refuses what is not UTF-8
    const std::string_view message = (*parsed).find("conditions")->items()[0].find("message")->string();
    EXPECT_GT(message.size(), 32760U);
    EXPECT_LE(message.size(), 32768U);
    EXPECT_TRUE(message.ends_with("ü…"));
  }
}

TEST(StatusJson, MakesAReasonOfAnything) {
  const auto reason = [](std::string_view text) {
    const test::Parsed parsed(status_json(simple(State::failed, text), 1, nullptr, morning));
    return std::string((*parsed).find("conditions")->items()[0].find("reason")->string());
  };
  EXPECT_EQ(reason("ImagePullBackOff"), "ImagePullBackOff");
  EXPECT_EQ(reason("two words!"), "twowords");
  EXPECT_EQ(reason("401:Unauthorized:"), "Unauthorized");
  EXPECT_EQ(reason(""), "Unknown");
  EXPECT_EQ(reason("__::"), "Unknown");
}

TEST(StatusJson, CountsAHundredPercentOnlyAtTheEnd) {
  const auto percent = [](std::int64_t done, std::int64_t total) {
    Status status = simple(State::in_progress);
    status.progress = Progress{done, total};
    const test::Parsed parsed(status_json(status, 1, nullptr, morning));
    const json::Value* found = (*parsed).find("progress")->find("percent");
    return found == nullptr ? -1 : found->integer();
  };
  constexpr std::int64_t most = std::numeric_limits<std::int64_t>::max();
  EXPECT_EQ(percent(0, 10), 0);
  EXPECT_EQ(percent(999, 1000), 99);
  EXPECT_EQ(percent(1000, 1000), 100);
  EXPECT_EQ(percent(1001, 1000), 100);
  EXPECT_EQ(percent(most - 1, most), 99);
  EXPECT_EQ(percent(most, most), 100);
  EXPECT_EQ(percent(5, 0), -1);
  EXPECT_EQ(percent(-5, 10), 0);
  EXPECT_EQ(percent(5, -10), -1);
}

TEST(States, AreTheOnesOfTheCrdInItsOrder) {
  for (const crds::KindInfo& kind : crds::kinds) {
    const auto* node = validate::schema_of(kind.kind).root().property("status")->property("state");
    std::vector<std::string_view> words, ours;
    for (const json::Value& each : node->enumeration) words.push_back(each.string());
    for (const State state : states_of(kind.kind)) ours.push_back(to_string(state));
    EXPECT_EQ(ours, words) << kind.name;
    for (const State state : states_of(kind.kind)) EXPECT_EQ(state_named(to_string(state)), state);
  }
  EXPECT_FALSE(state_named("ready"));
}

TEST(StatusJson, LeavesOutWhatCannotBeStored) {
  Status status = simple(State::ready);
  status.profiles = {{.name = ""}, {.name = std::string(254, 'x')}, {.name = "\xff"}, {.name = "a"}, {.name = "a"}};
  status.profiles.push_back({.name = "b", .config = {{"\xfe", "1"}, {"\xff", "2"}}});
  for (int i = 0; i < 100; ++i) status.profiles[3].config["key-" + std::to_string(i)] = std::string(2000, 'v');
  const test::Parsed parsed(status_json(status, 1, nullptr, morning));
  const auto profiles = (*parsed).find("profiles")->items();
  ASSERT_EQ(profiles.size(), 2U);
  EXPECT_TRUE(profiles[1].find("config")->members().empty());
  const auto config = profiles[0].find("config")->members();
  ASSERT_EQ(config.size(), 64U);
  EXPECT_EQ(config[0].key, "key-0");
  EXPECT_EQ(config[0].value.string().size(), 1024U);
}

std::string random_text(testing::Dice& dice) {
  static const std::vector<std::string> bits = {
      "a", "Z", "9", ":", " ", "ü", "€", "😀", "\xff", "\n", "\"", std::string(1, '\0'), "long-"};
  std::string out;
  const std::size_t many = dice.chance(3) ? 40000 : dice.roll(12);
  for (std::size_t i = 0; i < many; ++i) out += dice.pick(bits);
  return out;
}

std::int64_t random_number(testing::Dice& dice) {
  static constexpr std::array<std::int64_t, 6> odd{std::numeric_limits<std::int64_t>::min(), -1, 0, 1, 3'000'000'000,
                                                   std::numeric_limits<std::int64_t>::max()};
  return dice.chance(50) ? odd[dice.roll(odd.size())] : static_cast<std::int64_t>(dice.roll(100));
}

Status random_status(testing::Dice& dice, crds::Kind kind) {
  Status out{.state = states_of(kind)[dice.roll(states_of(kind).size())]};
  static constexpr std::array<std::string_view, 3> turns{"True", "False", "Unknown"};
  for (std::size_t i = dice.roll(dice.chance(5) ? 60 : 4); i > 0; --i)
    out.conditions.push_back({dice.chance(50) ? "Ready" : random_text(dice), std::string(turns[dice.roll(3)]),
                              random_text(dice), random_text(dice)});
  if (kind == crds::Kind::inference_cache) {
    if (dice.chance(60)) out.pvc = random_text(dice);
    if (dice.chance(60)) out.progress = Progress{random_number(dice), random_number(dice)};
    for (std::size_t i = dice.roll(dice.chance(3) ? 400 : 4); i > 0; --i) {
      Profile profile{
          .name = random_text(dice), .release = random_text(dice), .model = random_text(dice), .config = {}};
      for (std::size_t j = dice.roll(dice.chance(3) ? 100 : 3); j > 0; --j)
        profile.config[random_text(dice)] = random_text(dice);
      out.profiles.push_back(std::move(profile));
    }
  } else if (kind == crds::Kind::inference_pipeline) {
    for (std::size_t i = dice.roll(dice.chance(10) ? 50 : 4); i > 0; --i)
      out.services[random_text(dice)] = dice.chance(70) ? "Ready" : random_text(dice);
  } else if (dice.chance(70)) {
    out.available_replicas = random_number(dice);
  }
  return out;
}

TEST(StatusJson, IsAFixedPointWithinTheCrd) {
  std::string stored;
  crds::Kind before = crds::Kind::inference_service;
  for (std::uint64_t seed = 1; seed <= 1000; ++seed) {
    testing::Dice dice(seed);
    const crds::Kind kind = crds::kinds[dice.roll(3)].kind;
    if (kind != before || dice.chance(20))
      stored = dice.chance(50) ? "" : R"({"extra": {"a": null}, "progress": 7, "conditions": [{"type": "Ready"}]})";
    before = kind;
    const Status status = random_status(dice, kind);
    const std::int64_t generation = random_number(dice);
    stored = stored_after(status, stored, morning, generation);
    const test::Parsed parsed(stored);
    ASSERT_EQ(status_json(status, generation, parsed.get(), noon), "") << "seed " << seed << "\n" << stored;
    const auto faults = validate::schema::check(*validate::schema_of(kind).root().property("status"), *parsed);
    ASSERT_TRUE(faults.empty()) << "seed " << seed << " " << faults[0].path << " " << faults[0].problem;
  }
}

}  // namespace stored_status
}  // namespace stackgate::reconcile::tests
