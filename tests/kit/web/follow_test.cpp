#include "services/kit/web/follow.hpp"

#include <atomic>
#include <mutex>

#include <gmock/gmock.h>

#include "tests/kit/web/app_support.hpp"

namespace stackgate::web {
namespace {

using namespace std::chrono_literals;
using testing::HasSubstr;
using testing::Not;

/// Something with a history: two events at a time.
struct History {
  std::mutex mutex;
  std::vector<std::string> texts;
  std::atomic<bool> has_ended = false, is_away = false;

  void add(std::string text) {
    const std::lock_guard lock(mutex);
    texts.push_back(std::move(text));
  }
  EventSource source() {
    return {.next = [this](std::int64_t after) -> std::optional<std::vector<NumberedEvent>> {
              if (is_away) return std::nullopt;
              const std::lock_guard lock(mutex);
              std::vector<NumberedEvent> out;
              for (auto i = static_cast<std::size_t>(after); i < texts.size() && out.size() < 2; ++i)
                out.push_back({static_cast<std::int64_t>(i + 1), texts[i]});
              return out;
            },
            .ended = [this]() -> std::optional<bool> { return has_ended.load(); },
            .pause = 20ms};
  }
};

class Follow : public testing::Test {
 protected:
  void SetUp() override {
    const RouteOptions options{.transfer = true};
    app_ = test::start(
        {{"GET", "/log",
          [this](Call& call) { return send_log(call, history_.source(), call.query().get("follow").has_value()); },
          options},
         {"GET", "/events",
          [this](Call& call) {
            return send_events(call, history_.source(), "event", event_number(call.query().get("after").value_or("")));
          },
          options}});
  }
  History history_;
  std::unique_ptr<App> app_;
};

TEST_F(Follow, a_log_is_sent_as_it_is) {
  for (const char* each : {"a\n", "b\n", "c\n"}) history_.add(each);
  const test::Reply reply = test::ask(*app_, "GET /log");
  EXPECT_EQ(reply.status, 200);
  EXPECT_EQ(reply.header("Content-Type"), "text/plain; charset=utf-8");
  EXPECT_THAT(reply.body, testing::AllOf(HasSubstr("a\n"), HasSubstr("b\n"), HasSubstr("c\n")));
}

TEST_F(Follow, who_follows_gets_what_comes_with_the_end) {
  history_.add("first\n");
  std::jthread later([this] {
    std::this_thread::sleep_for(100ms);
    history_.has_ended = true;
    history_.add("last\n");
  });
  EXPECT_THAT(test::ask(*app_, "GET /log?follow").body, testing::AllOf(HasSubstr("first\n"), HasSubstr("last\n")));
}

TEST_F(Follow, events_go_on_where_the_client_was) {
  for (const char* each : {"one", "two", "three"}) history_.add(each);
  history_.has_ended = true;
  const std::string all = test::ask(*app_, "GET /events").body;
  EXPECT_THAT(all, HasSubstr("data: one"));
  EXPECT_THAT(all, HasSubstr("event: event"));
  EXPECT_THAT(all, HasSubstr("id: 3"));
  EXPECT_THAT(test::ask(*app_, "GET /events?after=2").body, testing::AllOf(HasSubstr("three"), Not(HasSubstr("two"))));
  EXPECT_THAT(test::ask(*app_, "GET /events?after=2", {}, "Last-Event-ID: 1\r\n").body,
              testing::AllOf(HasSubstr("two"), Not(HasSubstr("one"))));
}

TEST_F(Follow, a_database_that_is_away_ends_it) {
  history_.add("one");
  std::jthread later([this] {
    std::this_thread::sleep_for(100ms);
    history_.is_away = true;
  });
  EXPECT_THAT(test::ask(*app_, "GET /events").body, HasSubstr("data: one"));
}

TEST(EventNumber, is_read_or_none) {
  EXPECT_EQ(event_number("12"), 12);
  EXPECT_EQ(event_number("-3"), 0);
  EXPECT_EQ(event_number("x"), 0);
  EXPECT_EQ(event_number(""), 0);
}

}  // namespace
}  // namespace stackgate::web
