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

}  // namespace time_test
}  // namespace stackgate
