#include "services/kit/http_client/retry.hpp"

#include <gtest/gtest.h>

namespace stackgate::http_client {
namespace {

using namespace std::chrono_literals;

struct MayCase {
  const char* what;
  Attempt attempt;
  bool again;
};

TEST(Retry, repeats_what_may_go_away_and_cannot_happen_twice) {
  const MayCase table[] = {
      {"a GET that was cut", {true, true, 0}, true},
      {"a POST that was cut", {false, true, 0}, false},
      {"a POST without a connection", {false, false, 0}, true},
      {"a GET without a connection", {true, false, 0}, true},
      {"a GET with 503", {true, true, 503}, true},
      {"a GET with 429", {true, true, 429}, true},
      {"a GET with 408", {true, true, 408}, true},
      {"a POST with 503", {false, true, 503}, false},
      {"a GET with 500", {true, true, 500}, false},
      {"a GET with 404", {true, true, 404}, false},
      {"a GET with 200", {true, true, 200}, false},
  };
  for (const auto& test : table) EXPECT_EQ(may_retry(test.attempt), test.again) << test.what;
}

TEST(Retry, knows_the_methods_that_may_come_twice) {
  for (const char* method : {"GET", "HEAD", "PUT", "DELETE", "OPTIONS"}) EXPECT_TRUE(is_idempotent(method)) << method;
  for (const char* method : {"POST", "PATCH", "get", ""}) EXPECT_FALSE(is_idempotent(method)) << method;
}

struct AfterCase {
  const char* value;
  std::optional<std::chrono::seconds> seconds;
};

TEST(Retry, reads_the_server_s_word_in_seconds_and_as_a_date) {
  const auto now = std::chrono::sys_days(std::chrono::year(1999) / 12 / 31) + 23h + 59min;
  const AfterCase table[] = {
      {"120", 120s},
      {" 0 ", 0s},
      {"99999999999999999999", 999'999'999s},
      {"Fri, 31 Dec 1999 23:59:59 GMT", 59s},
      {"Sat, 01 Jan 2000 00:00:00 GMT", 60s},
      {"Fri, 31 Dec 1999 00:00:00 GMT", 0s},
      {"", std::nullopt},
      {"-1", std::nullopt},
      {"1.5", std::nullopt},
      {"soon", std::nullopt},
      {"Fri, 31 Foo 1999 23:59:59 GMT", std::nullopt},
      {"Fri, 32 Dec 1999 23:59:59 GMT", std::nullopt},
      {"Fri, 31 Dec 1999 25:59:59 GMT", std::nullopt},
      {"Fri, 31 Dec 1999 23:59:59 CET", std::nullopt},
      {"Fri, -1 Dec 1999 23:59:59 GMT", std::nullopt},
  };
  for (const auto& test : table) EXPECT_EQ(parse_retry_after(test.value, now), test.seconds) << test.value;
}

TEST(Retry, waits_longer_each_time_and_never_alike) {
  EXPECT_EQ(wait_before(1, {}, 0), 200ms);
  EXPECT_EQ(wait_before(2, {}, 0), 400ms);
  EXPECT_EQ(wait_before(2, {}, 1), 200ms);
  EXPECT_EQ(wait_before(60, {}, 0), 10s);
  EXPECT_EQ(wait_before(1, 7s, 0.5), 7s);
  EXPECT_EQ(wait_before(1, 61s, 0.5), std::nullopt);
}

}  // namespace
}  // namespace stackgate::http_client
