#include "services/kit/base/time.hpp"

#include <gtest/gtest.h>

namespace stackgate {
namespace time_test {

using std::chrono::microseconds, std::chrono::seconds, std::chrono::sys_seconds, std::chrono::system_clock;

TEST(Rfc3339, is_written) {
  EXPECT_EQ(to_rfc3339(system_clock::time_point{}), "1970-01-01T00:00:00Z");
  EXPECT_EQ(to_rfc3339(sys_seconds(seconds(253402300799))), "9999-12-31T23:59:59Z") << "beyond what nanoseconds hold";
  const auto time = system_clock::time_point(seconds(1'767'225'600)) + microseconds(42'999);
  EXPECT_EQ(to_rfc3339(time), "2026-01-01T00:00:00Z");
  EXPECT_EQ(to_rfc3339(time, 3), "2026-01-01T00:00:00.042Z") << "cut, not rounded";
  EXPECT_EQ(to_rfc3339(time, 6), "2026-01-01T00:00:00.042999Z");
  EXPECT_EQ(to_rfc3339(system_clock::time_point(microseconds(-1)), 6), "1969-12-31T23:59:59.999999Z");
}

TEST(Rfc3339, is_read) {
  struct Case {
    std::string_view text;
    std::optional<std::int64_t> seconds;
  };
  for (const Case& each :
       {Case{"1970-01-01T00:00:10Z", 10}, Case{"2024-02-29T23:00:00Z", 1709247600},
        Case{"2026-11-21T02:51:34Z", 1795229494}, Case{"2026-11-21t02:51:34z", 1795229494},
        Case{"2026-11-21T02:51:34.123456Z", 1795229494}, Case{"2026-11-21T03:51:34+01:00", 1795229494},
        Case{"2026-11-20T21:21:34-05:30", 1795229494}, Case{"2026-11-21T02:51:34.5+00:00", 1795229494},
        Case{"2026-11-21 02:51:34Z", {}}, Case{"2026-13-21T02:51:34Z", {}}, Case{"2023-02-29T00:00:00Z", {}},
        Case{"2024-02-29T24:00:00Z", {}}, Case{"2024-02-29T-1:00:00Z", {}}, Case{"2026-11-21T02:51:34", {}},
        Case{"2026-11-21T02:51:34+01:0", {}}, Case{"2026-11-21T02:51:34Zulu", {}}, Case{"2026-11-21T02:51:34.", {}},
        Case{"", {}}, Case{"tomorrow", {}}}) {
    const auto time = from_rfc3339(each.text);
    ASSERT_EQ(time.has_value(), each.seconds.has_value()) << each.text;
    if (time) {
      EXPECT_EQ(time->time_since_epoch().count(), *each.seconds) << each.text;
    }
  }
}

constexpr sys_seconds rfc_time{seconds(784111777)};  // Sun, 06 Nov 1994 08:49:37 GMT

TEST(HttpDate, is_read_in_three_forms) {
  for (const std::string_view text : {"Sun, 06 Nov 1994 08:49:37 GMT", "Sunday, 06-Nov-94 08:49:37 GMT",
                                      "Sun Nov  6 08:49:37 1994", "Sun Nov 06 08:49:37 1994"})
    EXPECT_EQ(from_http_date(text), rfc_time) << text;
  EXPECT_EQ(from_http_date("Mon, 12 Oct 2009 17:50:30 GMT"), sys_seconds(seconds(1'255'369'830)));
  EXPECT_EQ(from_http_date("Wednesday, 31-Dec-69 23:59:59 GMT"), from_http_date("Sat, 31 Dec 2069 23:59:59 GMT"))
      << "the day of the week is not compared";
  for (const std::string_view text :
       {"", "Sun, 06 Nov 1994 08:49:37", "Sun, 6 Nov 1994 08:49:37 GMT", "Sun, 06 nov 1994 08:49:37 GMT",
        "Sun, 31 Feb 1994 08:49:37 GMT", "Sun, 06 Nov 1994 24:49:37 GMT", "Sun, 06 Nov 1994 08:49:37 GMT x",
        "Sun, 06 Nov 1994 08:49:37 CET", "1994-11-06T08:49:37Z", "784111777", "Mon, 32 Oct 2009 17:50:30 GMT",
        "Mon, 12 ctN 2009 17:50:30 GMT", "Mon, 12 Oct 2009 25:50:30 GMT", "Mon, 12 Oct 2009 17-50-30 GMT",
        "Mon, -1 Oct 2009 17:50:30 GMT", "Sun Nov 6 08:49:37 1994", "Sun Nov  6 08:49:37 199", "%a, %d %b"})
    EXPECT_EQ(from_http_date(text), std::nullopt) << text;
}

TEST(HttpDate, is_written_in_the_first) {
  EXPECT_EQ(to_http_date(rfc_time), "Sun, 06 Nov 1994 08:49:37 GMT");
  EXPECT_EQ(to_http_date(sys_seconds{}), "Thu, 01 Jan 1970 00:00:00 GMT");
  EXPECT_EQ(to_http_date(sys_seconds(seconds(951'782'400))), "Tue, 29 Feb 2000 00:00:00 GMT");
}

}  // namespace time_test
}  // namespace stackgate
