#include "services/kit/kube/leader_core.hpp"

#include <string>
#include <vector>

#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace stackgate::kube::leader_core_test {
namespace {

using namespace std::chrono_literals;
using Time = LeaderMachine::Time;
using testing::HasSubstr;

const LeaderTuning tuning{.lease_duration = 15s, .renew_deadline = 10s, .retry = 2s};

/// What is stored, in one word: "holder/renewed/version", "-" for no Lease; the duration is 15 s unless "…/seconds".
LeaseRecord record(const std::string& words) {
  LeaseRecord out;
  std::vector<std::string> parts{""};
  for (const char c : words) {
    if (c == '/')
      parts.emplace_back();
    else
      parts.back() += c;
  }
  parts.resize(4);
  out.holder = parts[0];
  out.renew_time = parts[1];
  out.resource_version = parts[2];
  out.duration = std::chrono::seconds(parts[3].empty() ? 15 : std::stoi(parts[3]));
  return out;
}

/// "read", "create", "take VERSION", "renew VERSION", "wait MS" (until that time of the story).
std::string words_of(const LeaderAction& action) {
  if (const auto* wait = std::get_if<WaitUntil>(&action))
    return fmt::format("wait {}", (wait->time - Time{} - 1h) / std::chrono::milliseconds(1));
  if (const auto* write = std::get_if<WriteLease>(&action)) {
    EXPECT_EQ(write->record.holder, "me");
    EXPECT_EQ(write->record.duration, 15s);
    if (write->record.resource_version.empty()) return "create";
    return (write->acquired ? "take " : "renew ") + write->record.resource_version;
  }
  return "read";
}

/// At a time something happens, and this is what to do next. `event`: "read R", "seen R", "wrote R" (begun then),
/// "wrote R @MS" (begun at another time), "conflict", "failed", "watch", "no watch", "" (time passes).
struct Turn {
  int time;  // ms
  std::string event;
  std::string next;
  bool leading = false;
};
struct Election {
  const char* name;
  std::vector<Turn> turns;
};

void happen(LeaderMachine& machine, const Turn& turn) {
  const Time now = Time{} + 1h + std::chrono::milliseconds(turn.time);
  const std::string& event = turn.event;
  const std::size_t space = event.find(' ');
  const std::string verb = event.substr(0, space), object = space == std::string::npos ? "" : event.substr(space + 1);
  if (event == "watch" || event == "no watch") {
    machine.watching(event == "watch");
  } else if (event == "conflict" || event == "failed") {
    machine.failed(event == "conflict", now);
  } else if (verb == "wrote") {
    const std::size_t begun = object.find(" @");
    machine.written(record(object.substr(0, begun)),
                    begun == std::string::npos
                        ? now
                        : Time{} + 1h + std::chrono::milliseconds(std::stoi(object.substr(begun + 2))));
  } else if (verb == "read" || verb == "seen") {
    const LeaseRecord what = record(object);
    const LeaseRecord* pointer = object == "-" ? nullptr : &what;
    verb == "read" ? machine.read(pointer, now) : machine.seen(pointer, now);
  }
}

class Elections : public testing::TestWithParam<Election> {};

TEST_P(Elections, go_as_told) {
  LeaderMachine machine(tuning, "me");
  for (const Turn& turn : GetParam().turns) {
    happen(machine, turn);
    const Time now = Time{} + 1h + std::chrono::milliseconds(turn.time);
    ASSERT_EQ(words_of(machine.next(now)), turn.next) << turn.time << " ms " << turn.event;
    ASSERT_EQ(machine.leading(now), turn.leading) << turn.time << " ms " << turn.event;
  }
}

INSTANTIATE_TEST_SUITE_P(
    Leader, Elections,
    testing::Values(Election{"the_first_creates_the_lease_and_renews_it",
                             {{0, "", "read"},
                              {10, "read -", "create"},
                              {20, "wrote me/a/1", "wait 2020", true},
                              {2020, "", "renew 1", true},
                              {2030, "wrote me/b/2", "wait 4030", true}}},
                    Election{"a_free_lease_is_taken_at_once", {{0, "", "read"}, {10, "read /a/7/1", "take 7"}}},
                    Election{"our_own_lease_is_renewed", {{0, "", "read"}, {10, "read me/a/7", "renew 7"}}},
                    Election{"a_held_lease_is_watched_until_it_runs_out",
                             {{0, "watch", "read"},
                              {10, "read other/a/1", "wait 2010"},
                              {2010, "", "wait 4010"},
                              {3000, "seen other/b/2", "wait 5000"},
                              {17'999, "", "wait 18000"},
                              {18'000, "", "take 2"}}},
                    Election{"without_a_watch_it_is_read_each_retry",
                             {{0, "", "read"},
                              {10, "read other/a/1", "wait 2010"},
                              {2010, "", "read"},
                              {2020, "read other/a/1", "wait 4020"},
                              {15'010, "", "take 1"}}},
                    Election{"a_label_on_the_lease_is_no_sign_of_life",
                             {{0, "watch", "read"},
                              {0, "read other/a/1", "wait 2000"},
                              {14'000, "seen other/a/2", "wait 15000"},
                              {15'000, "", "take 2"}}},
                    Election{"the_duration_that_the_holder_names_counts",
                             {{0, "watch", "read"},
                              {0, "read other/a/1/60", "wait 2000"},
                              {59'999, "", "wait 60000"},
                              {60'000, "", "take 1"}}},
                    Election{"a_holder_without_a_duration_is_given_ours",
                             {{0, "watch", "read"},
                              {0, "read other/a/1/0", "wait 2000"},
                              {14'999, "", "wait 15000"},
                              {15'000, "", "take 1"}}},
                    Election{"a_release_is_taken_up_at_once",
                             {{0, "watch", "read"},
                              {0, "read other/a/1", "wait 2000"},
                              {500, "seen /b/2/1", "take 2"},
                              {510, "wrote me/c/3", "wait 2510", true}}},
                    Election{"a_deleted_lease_is_created_at_once",
                             {{0, "watch", "read"}, {0, "read other/a/1", "wait 2000"}, {500, "seen -", "create"}}},
                    Election{"who_comes_second_waits_for_the_first",
                             {{0, "watch", "read"},
                              {0, "read /a/1", "take 1"},
                              {10, "conflict", "read"},
                              {20, "read other/b/2", "wait 2020"}}},
                    Election{"conflicts_in_a_row_do_not_spin",
                             {{0, "", "read"},
                              {0, "read -", "create"},
                              {10, "conflict", "read"},
                              {20, "read -", "create"},
                              {30, "conflict", "wait 2030"},
                              {2030, "", "read"}}},
                    Election{"old_news_of_the_watch_means_nothing",
                             {{0, "watch", "read"},
                              {0, "read other/b/12", "wait 2000"},
                              {10, "seen /a/9", "wait 2010"},
                              {20, "seen other/b/12", "wait 2020"}}},
                    Election{"a_leader_believes_in_itself_until_the_deadline_and_no_longer",
                             {{0, "", "read"},
                              {0, "read -", "create"},
                              {100, "wrote me/a/1 @50", "wait 2050", true},
                              {2050, "failed", "wait 4050", true},
                              {4050, "", "read", true},
                              {4060, "failed", "wait 6060", true},
                              {6060, "failed", "wait 8060", true},
                              {8060, "failed", "wait 10050", true},
                              {10'049, "", "wait 10050", true},
                              {10'050, "", "wait 10060", false},
                              {10'060, "", "read", false}}},
                    Election{"what_was_lost_and_not_taken_is_taken_up_again",
                             {{0, "", "read"},
                              {0, "read -", "create"},
                              {0, "wrote me/a/1", "wait 2000", true},
                              {20'000, "", "read"},
                              {20'010, "read me/a/1", "renew 1"},
                              {20'020, "wrote me/b/2", "wait 22020", true}}},
                    Election{"a_leader_whose_lease_was_taken_stops",
                             {{0, "", "read"},
                              {0, "read -", "create"},
                              {0, "wrote me/a/1", "wait 2000", true},
                              {2000, "conflict", "read", true},
                              {2010, "read other/b/2", "wait 4010", false}}},
                    Election{"a_leader_whose_lease_somebody_labelled_goes_on",
                             {{0, "", "read"},
                              {0, "read -", "create"},
                              {0, "wrote me/a/1", "wait 2000", true},
                              {2000, "conflict", "read", true},
                              {2010, "read me/a/2", "renew 2", true}}},
                    Election{"a_leader_whose_lease_was_deleted_creates_it",
                             {{0, "", "read"},
                              {0, "read -", "create"},
                              {0, "wrote me/a/1", "wait 2000", true},
                              {2000, "conflict", "read", true},
                              {2010, "read -", "create", true}}},
                    Election{"a_write_that_was_answered_late_counts_from_its_beginning",
                             {{0, "", "read"},
                              {0, "read -", "create"},
                              {9'000, "wrote me/a/1 @0", "renew 1", true},
                              {10'000, "", "read", false}}},
                    Election{"a_write_without_an_answer_is_looked_up",
                             {{0, "watch", "read"},
                              {0, "read /a/1", "take 1"},
                              {3000, "failed", "wait 5000"},
                              {5000, "", "read"},
                              {5010, "read me/b/2", "renew 2"}}},
                    Election{"news_end_the_wait_after_a_failure",
                             {{0, "watch", "read"}, {0, "failed", "wait 2000"}, {500, "seen /b/2", "take 2"}}}),
    [](const auto& election) { return election.param.name; });

TEST(LeaderMachine, counts_a_transition_when_it_takes_a_lease_from_another_and_keeps_it_when_it_renews) {
  LeaderMachine machine(tuning, "me");
  LeaseRecord stored = record("other/a/1");
  stored.transitions = 4;
  stored.acquire_time = "then";
  machine.read(&stored, Time{} + 1h);
  const auto taken = std::get<WriteLease>(machine.next(Time{} + 2h));
  EXPECT_TRUE(taken.acquired);
  EXPECT_EQ(taken.record.transitions, 5);
  machine.written(taken.record, Time{} + 2h);
  const auto renewed = std::get<WriteLease>(machine.next(Time{} + 2h + 2s));
  EXPECT_FALSE(renewed.acquired);
  EXPECT_EQ(renewed.record.transitions, 5);
  EXPECT_EQ(renewed.record.acquire_time, "then");
  EXPECT_EQ(machine.counts().acquired, 1U);
  EXPECT_EQ(machine.counts().transitions_seen, 2U);
}

TEST(LeaderMachine, releases_what_it_holds_and_nothing_else) {
  LeaderMachine machine(tuning, "me");
  const LeaseRecord other = record("other/a/1");
  machine.read(&other, Time{} + 1h);
  EXPECT_EQ(machine.release(), std::nullopt);
  LeaseRecord mine = record("me/a/2");
  mine.transitions = 3;
  machine.written(mine, Time{} + 1h);
  ASSERT_TRUE(machine.leading(Time{} + 1h));
  const auto released = machine.release();
  ASSERT_TRUE(released);
  EXPECT_EQ(released->holder, "");
  EXPECT_EQ(released->duration, 1s);
  EXPECT_EQ(released->transitions, 3);
  EXPECT_EQ(released->resource_version, "2");
  EXPECT_FALSE(machine.leading(Time{} + 1h));
}

TEST(LeaderMachine, says_why_it_lost) {
  LeaderMachine machine(tuning, "me");
  machine.written(record("me/a/1"), Time{} + 1h);
  (void)machine.next(Time{} + 1h + 10s);
  EXPECT_THAT(machine.why_lost(), HasSubstr("could not be renewed for 10000 ms"));
  EXPECT_EQ(machine.counts().lost, 1U);
}

TEST(LeaderMachine, refuses_figures_that_cannot_work) {
  EXPECT_EQ(LeaderMachine::check({}), std::nullopt);
  EXPECT_THAT(LeaderMachine::check({.lease_duration = 10s, .renew_deadline = 10s, .retry = 2s})->message,
              HasSubstr("the lease duration (10 s) must be longer than the renew deadline"));
  EXPECT_THAT(LeaderMachine::check({.lease_duration = 15s, .renew_deadline = 2s, .retry = 2s})->message,
              HasSubstr("the renew deadline (2000 ms) must be longer than the retry period"));
  EXPECT_THAT(LeaderMachine::check({.lease_duration = 15s, .renew_deadline = 10s, .retry = 0s})->message,
              HasSubstr("longer than 0"));
}

}  // namespace
}  // namespace stackgate::kube::leader_core_test
