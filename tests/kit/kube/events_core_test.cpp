#include "services/kit/kube/events_core.hpp"

#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "services/kit/json/parse.hpp"
#include "services/kit/json/read.hpp"
#include "services/kit/kube/object.hpp"

namespace stackgate::kube::events_core_test {
namespace {

using namespace std::chrono_literals;
using testing::EndsWith;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::SizeIs;
using testing::StartsWith;
using Time = EventFolder::Time;

const EventTuning tuning{
    .patch_interval = 60s, .most_similar = 3, .similar_interval = 600s, .most_kept = 8, .forget_after = 3000s};

EventRecord record(std::string message, std::string reason = "Pulled", std::string name = "llm") {
  return {{"stackgate.dev/v1alpha1", "InferenceService", "ml", std::move(name), "uid-1", "", ""},
          EventType::warning,
          std::move(reason),
          std::move(message)};
}

class EventFolding : public testing::Test {
 protected:
  std::optional<EventWrite> add(std::chrono::milliseconds time, EventRecord what) {
    return folder.add(std::move(what), Time{} + 1h + time, EventFolder::WallTime{} + 1000h + time);
  }
  std::vector<EventWrite> due(std::chrono::milliseconds time, bool all = false) {
    return folder.due(Time{} + 1h + time, all);
  }
  EventFolder folder{tuning, 5};
};

TEST_F(EventFolding, the_first_record_is_an_event_of_its_own) {
  const auto event = add(0ms, record("image is missing"));
  ASSERT_TRUE(event);
  EXPECT_TRUE(event->create);
  EXPECT_EQ(event->count, 1);
  EXPECT_EQ(event->record.message, "image is missing");
  EXPECT_THAT(event->name, StartsWith("llm."));
  EXPECT_EQ(folder.next_due(), std::nullopt);
}

TEST_F(EventFolding, repeats_within_a_minute_are_one_patch_at_its_end) {
  const auto first = add(0ms, record("image is missing"));
  for (int i = 1; i <= 5; ++i) EXPECT_EQ(add(1s * i, record("image is missing")), std::nullopt);
  EXPECT_EQ(folder.next_due(), Time{} + 1h + 60s);
  EXPECT_THAT(due(59'999ms), IsEmpty());
  const auto raised = due(60s);
  ASSERT_THAT(raised, SizeIs(1));
  EXPECT_FALSE(raised[0].create);
  EXPECT_EQ(raised[0].name, first->name);
  EXPECT_EQ(raised[0].count, 6);
  EXPECT_EQ(raised[0].first, EventFolder::WallTime{} + 1000h);
  EXPECT_EQ(raised[0].last, EventFolder::WallTime{} + 1000h + 5s);
  EXPECT_EQ(folder.next_due(), std::nullopt);
}

TEST_F(EventFolding, a_repeat_after_a_minute_is_patched_at_once_and_the_next_waits) {
  add(0ms, record("image is missing"));
  const auto second = add(61s, record("image is missing"));
  ASSERT_TRUE(second);
  EXPECT_FALSE(second->create);
  EXPECT_EQ(second->count, 2);
  EXPECT_EQ(add(62s, record("image is missing")), std::nullopt);
  EXPECT_EQ(folder.next_due(), Time{} + 1h + 121s);
}

TEST_F(EventFolding, a_repeat_that_comes_when_the_patch_is_due_is_part_of_it) {
  add(0ms, record("image is missing"));
  add(1s, record("image is missing"));
  EXPECT_EQ(add(61s, record("image is missing")), std::nullopt);
  const auto raised = due(61s);
  ASSERT_THAT(raised, SizeIs(1));
  EXPECT_EQ(raised[0].count, 3);
  EXPECT_THAT(due(200s), IsEmpty());
}

TEST_F(EventFolding, another_reason_object_or_type_is_another_event) {
  EXPECT_TRUE(add(0ms, record("m"))->create);
  EXPECT_TRUE(add(0ms, record("m", "Other"))->create);
  EXPECT_TRUE(add(0ms, record("m", "Pulled", "other"))->create);
  EventRecord normal = record("m");
  normal.type = EventType::normal;
  EXPECT_TRUE(add(0ms, normal)->create);
  EventRecord reborn = record("m");
  reborn.object.uid = "uid-2";
  EXPECT_TRUE(add(0ms, reborn)->create) << "an object of the same name that was made anew";
}

TEST_F(EventFolding, many_similar_messages_become_one_event) {
  for (int i = 0; i < 3; ++i) EXPECT_TRUE(add(0ms, record(fmt::format("attempt {}", i)))->create);
  const auto combined = add(1s, record("attempt 3"));
  ASSERT_TRUE(combined);
  EXPECT_TRUE(combined->create);
  EXPECT_EQ(combined->record.message, "(combined from similar events): attempt 3");
  EXPECT_EQ(add(2s, record("attempt 4")), std::nullopt);
  EXPECT_EQ(add(3s, record("attempt 0")), std::nullopt) << "a message that is known still raises its own";
  const auto raised = due(70s);
  ASSERT_THAT(raised, SizeIs(2));
  EXPECT_EQ(raised[1].record.message, "(combined from similar events): attempt 4") << "the latest stands there";
  EXPECT_EQ(raised[1].count, 2);
  EXPECT_EQ(raised[0].record.message, "attempt 0");
}

TEST_F(EventFolding, after_a_quiet_time_similar_messages_are_told_again_one_by_one) {
  for (int i = 0; i < 4; ++i) add(0ms, record(fmt::format("attempt {}", i)));
  const auto later = add(601s, record("attempt 9"));
  ASSERT_TRUE(later);
  EXPECT_EQ(later->record.message, "attempt 9");
}

TEST_F(EventFolding, an_event_that_the_server_has_dropped_is_made_anew) {
  const auto first = add(0ms, record("m"));
  const auto again = add(3001s, record("m"));
  ASSERT_TRUE(again);
  EXPECT_TRUE(again->create);
  EXPECT_EQ(again->count, 1);
  EXPECT_NE(again->name, first->name);
}

TEST_F(EventFolding, what_could_not_be_written_is_forgotten) {
  const auto first = add(0ms, record("m"));
  EXPECT_EQ(add(1s, record("m")), std::nullopt);
  folder.forget(*first);
  EXPECT_EQ(folder.next_due(), std::nullopt);
  EXPECT_TRUE(add(2s, record("m"))->create);
  folder.forget(*first);
  EXPECT_EQ(folder.kept(), 1U) << "it has another name now";
}

TEST_F(EventFolding, remembers_a_bounded_number_of_events_and_forgets_the_least_recent) {
  for (int i = 0; i < 8; ++i) add(0ms, record("m", "Pulled", fmt::format("o{}", i)));
  EXPECT_EQ(add(1s, record("m", "Pulled", "o0")), std::nullopt);  // used again, and waiting
  add(1s, record("m", "Pulled", "o1"));
  add(2s, record("m", "Pulled", "new"));
  EXPECT_EQ(folder.kept(), 8U);
  EXPECT_EQ(add(3s, record("m", "Pulled", "o0")), std::nullopt) << "still known";
  EXPECT_TRUE(add(3s, record("m", "Pulled", "o2"))->create) << "forgotten";
  for (int i = 0; i < 10'000; ++i) add(4s, record(fmt::format("m{}", i), "Pulled", fmt::format("p{}", i)));
  EXPECT_EQ(folder.kept(), 8U);
}

TEST_F(EventFolding, everything_is_due_at_the_end) {
  add(0ms, record("a"));
  add(1s, record("a"));
  add(0ms, record("b"));
  EXPECT_THAT(due(2s, true), SizeIs(1));
  EXPECT_THAT(due(2s, true), IsEmpty());
}

TEST_F(EventFolding, names_are_unique_and_short_enough_and_end_well) {
  std::set<std::string> names;
  for (int i = 0; i < 1000; ++i) {
    const auto event = add(0ms, record("m", fmt::format("R{}", i), std::string(250, 'a') + ".b"));
    ASSERT_TRUE(event);
    EXPECT_LE(event->name.size(), 253U);
    names.insert(event->name);
  }
  EXPECT_THAT(names, SizeIs(1000));
  const std::string unique_size = add(0ms, record("m", "X", "n"))->name.substr(1);
  const std::string odd = std::string(253 - unique_size.size() - 1, 'a') + "-bcd";
  EXPECT_THAT(add(0ms, record("m", "X", odd))->name, StartsWith(std::string(20, 'a')));
  EXPECT_EQ(add(0ms, record("m", "Y", odd))->name.find("-."), std::string::npos);
}

struct Cut {
  std::string text, expected;
};

TEST(EventMessages, are_cut_before_a_character) {
  for (const Cut& cut : {Cut{"short", "short"}, Cut{"0123456789", "0123456789"}, Cut{"0123456789x", "0123456…"},
                         Cut{"012345€€€€", "012345…"}, Cut{"0123€€€€", "0123€…"}, Cut{"", ""}})
    EXPECT_EQ(cut_message(cut.text, 10), cut.expected) << cut.text;
  const std::string whole = cut_message(std::string(5000, 'x'));
  EXPECT_EQ(whole.size(), most_event_message);
  EXPECT_THAT(whole, EndsWith("x…"));
}

TEST(EventMessages, are_cut_in_the_record_too) {
  EventFolder folder(tuning, 1);
  EXPECT_EQ(folder.add(record(std::string(2000, 'x')), Time{}, {})->record.message.size(), most_event_message);
}

TEST(EventJson, names_the_object_as_describe_looks_it_up) {
  EventWrite event;
  event.record = record("image \"x\" is missing");
  event.name = "llm.1";
  event.count = 3;
  event.first = EventFolder::WallTime{} + std::chrono::seconds(1'767'225'600);
  event.last = event.first + 90s;
  const std::string text = event_json(event, "stackgate", "pod-1");
  json::Document document;
  ASSERT_TRUE(json::parse(text, document));
  const json::Value& root = document.root;
  EXPECT_EQ(metadata(root, "namespace"), "ml");
  for (const auto& [key, expected] :
       std::vector<std::pair<const char*, const char*>>{{"kind", "InferenceService"},
                                                        {"apiVersion", "stackgate.dev/v1alpha1"},
                                                        {"namespace", "ml"},
                                                        {"name", "llm"},
                                                        {"uid", "uid-1"}})
    EXPECT_EQ(json::at(&root, {"involvedObject", key})->string(), expected) << key;
  EXPECT_EQ(json::at(&root, {"involvedObject", "resourceVersion"}), nullptr);
  EXPECT_EQ(root.find("type")->string(), "Warning");
  EXPECT_EQ(root.find("reason")->string(), "Pulled");
  EXPECT_EQ(root.find("message")->string(), "image \"x\" is missing");
  EXPECT_EQ(root.find("count")->integer(), 3);
  EXPECT_EQ(root.find("firstTimestamp")->string(), "2026-01-01T00:00:00Z");
  EXPECT_EQ(root.find("lastTimestamp")->string(), "2026-01-01T00:01:30Z");
  EXPECT_EQ(json::at(&root, {"source", "component"})->string(), "stackgate");
  EXPECT_EQ(json::at(&root, {"source", "host"})->string(), "pod-1");
  EXPECT_EQ(event_patch(event),
            R"({"message":"image \"x\" is missing","count":3,"lastTimestamp":"2026-01-01T00:01:30Z"})");
}

TEST(EventJson, of_a_cluster_wide_object_stands_in_default) {
  EventWrite event;
  event.record = record("m");
  event.record.object.ns.clear();
  EXPECT_THAT(event_json(event, "stackgate", ""), HasSubstr(R"("metadata":{"namespace":"default")"));
}

}  // namespace
}  // namespace stackgate::kube::events_core_test
