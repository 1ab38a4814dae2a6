#include "services/kit/web/ranges.hpp"

#include <gtest/gtest.h>

namespace stackgate::web {
namespace {

// "0+10 20+5", "whole" or "unsatisfiable".
std::string shown(std::string_view header, std::uint64_t size) {
  const RangeRequest request = read_range(header, size);
  if (request.kind == RangeRequest::Kind::whole) return "whole";
  if (request.kind == RangeRequest::Kind::unsatisfiable) return "unsatisfiable";
  std::string out;
  for (const auto& range : request.ranges)
    out += (out.empty() ? "" : " ") + std::to_string(range.first) + "+" + std::to_string(range.count);
  return out;
}

TEST(Ranges, AreReadAsTheRfcHasThem) {
  const struct {
    std::string_view header;
    std::uint64_t size;
    std::string_view expected;
  } cases[] = {
      {"", 100, "whole"},
      {"bytes=0-0", 100, "0+1"},
      {"bytes=0-99", 100, "0+100"},
      {"bytes=0-", 100, "0+100"},
      {"bytes=99-", 100, "99+1"},
      {"bytes=100-", 100, "unsatisfiable"},
      {"bytes=0-1000", 100, "0+100"},
      {"bytes=-1", 100, "99+1"},
      {"bytes=-500", 100, "0+100"},
      {"bytes=-0", 100, "unsatisfiable"},
      {"Bytes = 0-1", 100, "whole"},
      {"BYTES=0-1", 100, "0+2"},
      {" bytes=0-1 ", 100, "0+2"},
      {"bytes= 0 - 1 , 5-6", 100, "0+2 5+2"},
      {"bytes=5-6,0-1", 100, "5+2 0+2"},
      {"bytes=0-1,200-", 100, "0+2"},
      {"bytes=,0-1,,", 100, "0+2"},
      // Overlapping and adjoining ones become one; three that meet through the third, too.
      {"bytes=0-9,5-14", 100, "0+15"},
      {"bytes=0-9,10-19", 100, "0+20"},
      {"bytes=0-9,20-29,10-19", 100, "0+30"},
      {"bytes=0-9,11-19", 100, "0+10 11+9"},
      {"bytes=-10,0-0", 100, "90+10 0+1"},
      // Broken: as if there were no header.
      {"bytes=", 100, "whole"},
      {"bytes=,", 100, "whole"},
      {"bytes=a-b", 100, "whole"},
      {"bytes=5-4", 100, "whole"},
      {"bytes=-", 100, "whole"},
      {"bytes=--1", 100, "whole"},
      {"bytes=1", 100, "whole"},
      {"bytes=0-1,x", 100, "whole"},
      {"bytes=+1-2", 100, "whole"},
      {"lines=0-1", 100, "whole"},
      {"0-1", 100, "whole"},
      // Numbers beyond 64 bits are only large.
      {"bytes=0-99999999999999999999999", 100, "0+100"},
      {"bytes=99999999999999999999999-", 100, "unsatisfiable"},
      {"bytes=-99999999999999999999999", 100, "0+100"},
      {"bytes=18446744073709551615-18446744073709551615", 100, "unsatisfiable"},
      {"bytes=18446744073709551614-", 18446744073709551615U, "18446744073709551614+1"},
      // Of nothing, everything.
      {"bytes=0-0", 0, "whole"},
      {"bytes=-1", 0, "whole"},
  };
  for (const auto& each : cases) EXPECT_EQ(shown(each.header, each.size), each.expected) << each.header;
}

TEST(Ranges, TooManyAreNone) {
  std::string header = "bytes=";
  for (int i = 0; i < 64; ++i) header += std::to_string(i * 10) + "-" + std::to_string(i * 10 + 1) + ",";
  EXPECT_EQ(read_range(header, 1000).ranges.size(), 64U);
  EXPECT_EQ(shown(header + "990-991", 1000), "whole");
}

TEST(Ranges, AreWrittenForContentRange) {
  EXPECT_EQ(content_range({0, 1}, 1234), "bytes 0-0/1234");
  EXPECT_EQ(content_range_unsatisfied(1234), "bytes */1234");
}

}  // namespace
}  // namespace stackgate::web
