#include "services/kit/web/conditional.hpp"

#include <gtest/gtest.h>

#include "services/kit/base/time.hpp"

namespace stackgate::web {
namespace {

using namespace std::chrono_literals;
using std::chrono::sys_seconds;

constexpr sys_seconds rfc_time{784111777s};  // Sun, 06 Nov 1994 08:49:37 GMT

TEST(Etag, ListsAreComparedStronglyAndWeakly) {
  const struct {
    std::string_view list, etag;
    bool strong, weak;
  } cases[] = {
      {"\"a\"", "\"a\"", true, true},
      {"W/\"a\"", "\"a\"", false, true},
      {"\"a\"", "W/\"a\"", false, true},
      {"W/\"a\"", "W/\"a\"", false, true},
      {"\"a\", \"b\"", "\"b\"", true, true},
      {"\"a,b\",W/\"c\"", "\"a,b\"", true, true},
      {" , \"a\" ,, ", "\"a\"", true, true},
      {"*", "\"x\"", true, true},
      {"\"a\"", "\"A\"", false, false},
      {"a", "a", false, false},
      {"\"a\" \"b\"", "\"b\"", false, false},
      {"\"a", "\"a", false, false},
      {"\"a\", b", "\"a\"", false, false},
      {"w/\"a\"", "\"a\"", false, false},
      {"", "\"a\"", false, false},
      {"\"\"", "\"\"", true, true},
      {"\"a\"", "", false, false},
  };
  for (const auto& each : cases) {
    EXPECT_EQ(etag_listed(each.list, each.etag, false), each.strong) << each.list << each.etag;
    EXPECT_EQ(etag_listed(each.list, each.etag, true), each.weak) << each.list << each.etag;
  }
  EXPECT_EQ(make_etag("abc"), "\"abc\"");
  EXPECT_EQ(make_etag("a\"b\n", true), "W/\"ab\"");
}

http::Request request_with(std::string_view method, std::vector<http::Header> headers) {
  http::Request request;
  request.method = method;
  request.headers = std::move(headers);
  return request;
}

TEST(Preconditions, DecideInTheOrderOfTheRfc) {
  const std::string same = to_http_date(rfc_time), before = to_http_date(rfc_time - 1s),
                    after = to_http_date(rfc_time + 1s);
  constexpr auto proceed = Precondition::proceed, unchanged = Precondition::not_modified, failed = Precondition::failed;
  const struct {
    std::string_view method;
    std::vector<http::Header> headers;
    Precondition expected, without_content;
  } cases[] = {
      {"GET", {}, proceed, proceed},
      {"GET", {{"If-None-Match", "\"a\""}}, unchanged, proceed},
      {"HEAD", {{"If-None-Match", "W/\"a\""}}, unchanged, proceed},
      {"GET", {{"If-None-Match", "\"b\""}}, proceed, proceed},
      {"GET", {{"If-None-Match", "*"}}, unchanged, proceed},
      {"PUT", {{"If-None-Match", "*"}}, failed, proceed},
      {"PUT", {{"If-None-Match", "\"a\""}}, failed, proceed},
      {"PUT", {{"If-Match", "\"a\""}}, proceed, failed},
      {"PUT", {{"If-Match", "W/\"a\""}}, failed, failed},
      {"PUT", {{"If-Match", "*"}}, proceed, failed},
      {"PUT", {{"If-Match", "\"b\""}}, failed, failed},
      {"GET", {{"If-Modified-Since", same}}, unchanged, proceed},
      {"GET", {{"If-Modified-Since", after}}, unchanged, proceed},
      {"GET", {{"If-Modified-Since", before}}, proceed, proceed},
      {"GET", {{"If-Modified-Since", "yesterday"}}, proceed, proceed},
      {"POST", {{"If-Modified-Since", same}}, proceed, proceed},
      // The entity tag outweighs the date.
      {"GET", {{"If-None-Match", "\"b\""}, {"If-Modified-Since", same}}, proceed, proceed},
      {"PUT", {{"If-Match", "\"a\""}, {"If-Unmodified-Since", before}}, proceed, failed},
      {"PUT", {{"If-Unmodified-Since", before}}, failed, proceed},
      {"PUT", {{"If-Unmodified-Since", same}}, proceed, proceed},
      {"GET", {{"If-Match", "\"a\""}, {"If-None-Match", "\"a\""}}, unchanged, failed},
  };
  const Validators current{"\"a\"", rfc_time};
  for (const auto& each : cases) {
    const auto request = request_with(each.method, each.headers);
    const std::string_view shown = each.headers.empty() ? "no header" : each.headers[0].value;
    EXPECT_EQ(check_preconditions(request, current), each.expected) << each.method << shown;
    EXPECT_EQ(check_preconditions(request, {}, false), each.without_content) << each.method << shown;
  }
  // No validator at all: nothing is known to be unchanged.
  EXPECT_EQ(check_preconditions(request_with("GET", {{"If-None-Match", "\"a\""}}), {}), proceed);
  EXPECT_EQ(check_preconditions(request_with("GET", {{"If-Modified-Since", same}}), {}), proceed);
}

TEST(IfRange, HoldsForExactlyThisContent) {
  const Validators current{"\"a\"", rfc_time};
  const std::string same = to_http_date(rfc_time), later = to_http_date(rfc_time + 1s);
  const auto holds = [&](std::string_view value, const Validators& validators, sys_seconds now) {
    return range_still_holds(request_with("GET", {{"If-Range", value}}), validators, now);
  };
  EXPECT_TRUE(range_still_holds(request_with("GET", {}), current, rfc_time));
  EXPECT_TRUE(holds("\"a\"", current, rfc_time));
  EXPECT_FALSE(holds("\"b\"", current, rfc_time));
  EXPECT_FALSE(holds("W/\"a\"", {"W/\"a\"", {}}, rfc_time));
  EXPECT_FALSE(holds("\"\"", {}, rfc_time));
  EXPECT_TRUE(holds(same, current, rfc_time + 2min));
  EXPECT_FALSE(holds(same, current, rfc_time + 30s)) << "within a minute a date is no strong validator";
  EXPECT_FALSE(holds(later, current, rfc_time + 2min));
  EXPECT_FALSE(holds("nonsense", current, rfc_time + 2min));
}

}  // namespace
}  // namespace stackgate::web
