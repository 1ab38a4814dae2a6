#include "services/kit/kube/watch.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "services/kit/json/parse.hpp"

namespace stackgate::kube {
namespace {

using namespace std::chrono_literals;

ApiError answered(int code, std::string reason = "") {
  return {Failure::answered, code, std::move(reason), "said no", 0s};
}
const ApiError unreachable{Failure::unreachable, 0, "", "connection refused", 0s};
const ApiError reset{Failure::interrupted, 0, "", "reset", 0s};

/// A machine and what it said last.
struct Rig {
  WatchMachine machine{WatchTuning{}, Jitter(1)};
  WatchAction last = machine.start();

  const ListNow& list() const { return std::get<ListNow>(last); }
  const WatchNow& watch() const { return std::get<WatchNow>(last); }
  std::chrono::milliseconds wait() const { return std::get<WaitFor>(last).time; }
  bool lists() const { return std::holds_alternative<ListNow>(last); }
  bool watches() const { return std::holds_alternative<WatchNow>(last); }
  bool waits() const { return std::holds_alternative<WaitFor>(last); }

  EventVerdict event(std::string_view type, std::string_view version) {
    const std::string text = R"({"type":")" + std::string(type) + R"(","object":{"metadata":{"resourceVersion":")" +
                             std::string(version) + R"("}}})";
    json::Document document;
    EXPECT_TRUE(json::parse(text, document));
    return machine.event(document.root);
  }
  EventVerdict error_event(int code) {
    const std::string text =
        R"({"type":"ERROR","object":{"kind":"Status","code":)" + std::to_string(code) + R"(,"message":"too old"}})";
    json::Document document;
    EXPECT_TRUE(json::parse(text, document));
    return machine.event(document.root);
  }
  void listed(std::string version = "10", std::string token = "") { last = machine.page_received({version, token}); }
  void ended(const ApiError* error, std::chrono::milliseconds lasted = 300s) {
    last = machine.stream_ended(error, lasted);
  }
};

TEST(Watching, begins_with_the_first_page_of_a_list) {
  const Rig rig;
  ASSERT_TRUE(rig.lists());
  EXPECT_EQ(rig.list().limit, 500);
  EXPECT_TRUE(rig.list().first);
  EXPECT_FALSE(rig.machine.synced());
}

TEST(Watching, reads_page_after_page_and_then_follows_from_the_lists_version) {
  Rig rig;
  rig.listed("10", "more");
  ASSERT_TRUE(rig.lists());
  EXPECT_EQ(rig.list().continue_token, "more");
  EXPECT_FALSE(rig.list().first);
  EXPECT_FALSE(rig.machine.synced());
  rig.listed("10");
  ASSERT_TRUE(rig.watches());
  EXPECT_EQ(rig.watch().resource_version, "10");
  EXPECT_GE(rig.watch().timeout, 300s);
  EXPECT_LE(rig.watch().timeout, 600s);
  EXPECT_TRUE(rig.machine.synced());
}

TEST(Watching, takes_a_list_whose_pages_expired_in_one_piece) {
  Rig rig;
  rig.listed("10", "more");
  rig.last = rig.machine.list_failed(answered(410, "Expired"));
  ASSERT_TRUE(rig.lists());
  EXPECT_EQ(rig.list().limit, 0);
  EXPECT_TRUE(rig.list().first);
  EXPECT_EQ(rig.list().continue_token, "");
}

TEST(Watching, says_what_to_do_with_each_event) {
  Rig rig;
  rig.listed();
  EXPECT_EQ(rig.event("ADDED", "11"), EventVerdict::upsert);
  EXPECT_EQ(rig.event("MODIFIED", "12"), EventVerdict::upsert);
  EXPECT_EQ(rig.event("DELETED", "13"), EventVerdict::remove);
  EXPECT_EQ(rig.event("BOOKMARK", "20"), EventVerdict::pass);
  EXPECT_EQ(rig.machine.counts().events, 3U);
  EXPECT_EQ(rig.machine.counts().bookmarks, 1U);
}

TEST(Watching, resumes_from_the_last_bookmark_when_the_server_closes) {
  Rig rig;
  rig.listed();
  rig.event("ADDED", "11");
  rig.event("BOOKMARK", "20");
  rig.ended(nullptr);
  ASSERT_TRUE(rig.watches());
  EXPECT_EQ(rig.watch().resource_version, "20");
  EXPECT_FALSE(rig.watch().fresh_connection);
}

TEST(Watching, resumes_on_another_connection_after_a_silent_stall) {
  Rig rig;
  rig.listed();
  rig.event("ADDED", "11");
  rig.last = rig.machine.stalled();
  ASSERT_TRUE(rig.watches());
  EXPECT_EQ(rig.watch().resource_version, "11");
  EXPECT_TRUE(rig.watch().fresh_connection);
  EXPECT_EQ(rig.machine.counts().stalls, 1U);
}

TEST(Watching, lists_again_at_once_when_the_stream_says_that_the_version_is_forgotten) {
  Rig rig;
  rig.listed();
  EXPECT_EQ(rig.error_event(410), EventVerdict::end);
  rig.ended(&reset);
  ASSERT_TRUE(rig.lists());
  EXPECT_TRUE(rig.list().first);
  EXPECT_EQ(rig.machine.counts().expired, 1U);
  EXPECT_TRUE(rig.machine.synced()) << "what is known stays in use meanwhile";
}

TEST(Watching, lists_again_when_the_watch_itself_is_answered_with_410) {
  Rig rig;
  rig.listed();
  const ApiError gone = answered(410, "Expired");
  rig.ended(&gone, 5ms);
  EXPECT_TRUE(rig.lists());
}

TEST(Watching, does_not_list_in_a_loop_when_every_version_is_forgotten) {
  Rig rig;
  rig.listed();
  rig.error_event(410);
  rig.ended(&reset);
  ASSERT_TRUE(rig.lists());
  rig.listed("11");
  // The list succeeded, which resets the count of failed watches: a second 410 may list at once again …
  rig.error_event(410);
  rig.ended(&reset);
  EXPECT_TRUE(rig.lists() || rig.waits());
}

TEST(Watching, waits_longer_after_each_failure_and_resumes) {
  Rig rig;
  rig.listed();
  rig.ended(&reset, 1s);
  ASSERT_TRUE(rig.waits());
  const auto first = rig.wait();
  rig.last = rig.machine.waited();
  ASSERT_TRUE(rig.watches());
  EXPECT_EQ(rig.watch().resource_version, "10");
  rig.ended(&unreachable, 1ms);
  rig.last = rig.machine.waited();
  rig.ended(&unreachable, 1ms);
  ASSERT_TRUE(rig.waits());
  EXPECT_GT(rig.wait(), first);
}

TEST(Watching, never_waits_longer_than_the_limit) {
  Rig rig;
  for (int i = 0; i < 100; ++i) {
    rig.last = rig.machine.list_failed(unreachable);
    ASSERT_LE(rig.wait(), 10s);
    rig.last = rig.machine.waited();
  }
  EXPECT_EQ(rig.machine.counts().failures, 100U);
}

TEST(Watching, lists_again_after_several_watches_failed_in_a_row) {
  Rig rig;
  rig.listed();
  for (int i = 0; i < 4; ++i) {
    ASSERT_TRUE(rig.watches());
    rig.ended(&unreachable, 1ms);
    rig.last = rig.machine.waited();
  }
  EXPECT_TRUE(rig.lists());
}

TEST(Watching, waits_when_a_server_closes_at_once_without_a_word) {
  Rig rig;
  rig.listed();
  rig.ended(nullptr, 10ms);
  EXPECT_TRUE(rig.waits());
}

TEST(Watching, does_not_wait_when_a_short_stream_brought_something) {
  Rig rig;
  rig.listed();
  rig.event("ADDED", "11");
  rig.ended(nullptr, 10ms);
  EXPECT_TRUE(rig.watches());
}

TEST(Watching, waits_as_long_as_the_server_asks) {
  Rig rig;
  ApiError busy = answered(429, "TooManyRequests");
  busy.retry_after = 7s;
  rig.last = rig.machine.list_failed(busy);
  EXPECT_GE(rig.wait(), 7s);
}

TEST(Watching, takes_a_refusal_for_one_only_when_it_lasts) {
  Rig rig;
  for (const auto wait : {1s, 4s}) {
    rig.last = rig.machine.list_failed(answered(403, "Forbidden"));
    EXPECT_FALSE(rig.machine.denied()) << "an API server that has just started refuses everybody";
    EXPECT_EQ(rig.machine.denial(), "said no");
    EXPECT_EQ(rig.wait(), wait);
    rig.last = rig.machine.waited();
  }
  rig.last = rig.machine.list_failed(answered(403, "Forbidden"));
  EXPECT_TRUE(rig.machine.denied());
  EXPECT_GE(rig.wait(), 15s);
}

TEST(Watching, forgets_refusals_that_did_not_last) {
  for (const ApiError& other : {unreachable, answered(404, "NotFound")}) {
    Rig rig;
    for (int i = 0; i < 4; ++i) {
      rig.last = rig.machine.list_failed(answered(403, "Forbidden"));
      rig.last = rig.machine.waited();
      rig.last = rig.machine.list_failed(other);
      rig.last = rig.machine.waited();
      EXPECT_FALSE(rig.machine.denied());
    }
  }
  Rig rig;
  for (int i = 0; i < 4; ++i) {
    rig.listed();
    const ApiError refused = answered(403, "Forbidden");
    rig.ended(&refused, 5ms);
    ASSERT_TRUE(rig.waits());
    rig.last = rig.machine.waited();
    EXPECT_TRUE(rig.lists());
    EXPECT_FALSE(rig.machine.denied());
  }
}

TEST(Watching, stays_refused_while_the_server_cannot_be_reached) {
  Rig rig;
  for (int i = 0; i < 3; ++i) rig.last = rig.machine.list_failed(answered(403, "Forbidden"));
  ASSERT_TRUE(rig.machine.denied());
  for (const ApiError& error : {unreachable, answered(429, "TooManyRequests"), answered(503)}) {
    rig.last = rig.machine.list_failed(error);
    EXPECT_TRUE(rig.machine.denied());
    EXPECT_EQ(rig.machine.denial(), "said no");
  }
  rig.listed();
  EXPECT_FALSE(rig.machine.denied());
}

TEST(Watching, knows_whether_the_server_was_reached) {
  Rig rig;
  EXPECT_EQ(rig.machine.reach(), Reach::unknown);
  const auto after = [&rig](const ApiError& error) {
    rig.last = rig.machine.list_failed(error);
    return rig.machine.reach();
  };
  EXPECT_EQ(after(unreachable), Reach::unreached);
  EXPECT_EQ(after(reset), Reach::unreached);
  EXPECT_EQ(after(answered(403, "Forbidden")), Reach::reached);
  EXPECT_EQ(after(answered(502)), Reach::unreached) << "a proxy's";
  EXPECT_EQ(after(answered(503, "ServiceUnavailable")), Reach::reached);
  EXPECT_EQ(after({Failure::malformed, 0, "", "not JSON", 0s}), Reach::unreached);
  rig.last = rig.machine.waited();
  EXPECT_EQ(rig.machine.reach(), Reach::unknown) << "being tried";
  rig.listed();
  EXPECT_EQ(rig.machine.reach(), Reach::reached);
  rig.last = rig.machine.stalled();
  EXPECT_EQ(rig.machine.reach(), Reach::unreached);
  rig.ended(nullptr);
  EXPECT_EQ(rig.machine.reach(), Reach::reached) << "it closed the stream as it should";
  rig.last = rig.machine.stalled();
  rig.event("BOOKMARK", "20");
  EXPECT_EQ(rig.machine.reach(), Reach::reached);
}

TEST(Watching, counts_an_absent_type_as_a_failure_only_where_it_must_be_there) {
  Rig must;
  must.last = must.machine.list_failed(answered(404, "NotFound"));
  EXPECT_EQ(must.machine.counts().failures, 1U);
  WatchTuning tuning;
  tuning.missing = BackoffLimits{100ms, 60s, 1.5};
  Rig may{.machine = WatchMachine(tuning, Jitter(1))};
  may.last = may.machine.list_failed(answered(404, "NotFound"));
  EXPECT_EQ(may.machine.counts().failures, 0U);
  may.last = may.machine.list_failed(answered(403, "Forbidden"));
  EXPECT_EQ(may.machine.counts().failures, 1U);
}

TEST(Watching, tells_refused_from_unknown) {
  Rig rig;
  for (int i = 0; i < 3; ++i) rig.last = rig.machine.list_failed(answered(403, "Forbidden"));
  EXPECT_TRUE(rig.machine.denied());
  rig.last = rig.machine.waited();
  rig.last = rig.machine.list_failed(answered(404, "NotFound"));
  EXPECT_FALSE(rig.machine.denied());
  EXPECT_TRUE(rig.machine.missing());
  rig.last = rig.machine.waited();
  rig.listed();
  EXPECT_FALSE(rig.machine.missing());
  EXPECT_EQ(rig.machine.last_error(), "");
}

TEST(Watching, of_a_type_that_may_soon_be_there_backs_off_on_its_own_terms) {
  WatchTuning tuning;
  tuning.missing = BackoffLimits{100ms, 60s, 1.5};
  Rig rig{.machine = WatchMachine(tuning, Jitter(1))};
  for (const auto most : {100ms, 150ms, 225ms}) {
    rig.last = rig.machine.list_failed(answered(404, "NotFound"));
    EXPECT_LE(rig.wait(), most);
    rig.last = rig.machine.waited();
  }
  rig.last = rig.machine.list_failed(answered(403, "Forbidden"));
  EXPECT_GE(rig.wait(), 1s) << "a refusal is another matter";
  rig.last = rig.machine.waited();
  rig.listed();
  rig.ended(&unreachable);
  EXPECT_LE(rig.wait(), 200ms);
  rig.last = rig.machine.waited();
  rig.ended(&unreachable);
  rig.last = rig.machine.waited();
  const ApiError gone = answered(404, "NotFound");
  rig.ended(&gone);
  EXPECT_LE(rig.wait(), 100ms) << "from the beginning";
}

TEST(Watching, lists_again_after_an_event_that_makes_no_sense) {
  for (const auto* type : {"ADDED", "SOMETHING"}) {
    Rig rig;
    rig.listed();
    EXPECT_EQ(rig.event(type, std::string_view(type) == "ADDED" ? "" : "11"), EventVerdict::end) << type;
    rig.ended(&reset);
    EXPECT_TRUE(rig.lists()) << type;
  }
}

TEST(Watching, begins_a_list_anew_when_a_later_page_fails) {
  Rig rig;
  rig.listed("10", "more");
  rig.last = rig.machine.list_failed(reset);
  ASSERT_TRUE(rig.waits());
  rig.last = rig.machine.waited();
  ASSERT_TRUE(rig.lists());
  EXPECT_TRUE(rig.list().first);
  EXPECT_EQ(rig.list().continue_token, "");
}

}  // namespace
}  // namespace stackgate::kube
