#include "services/kit/html/words.hpp"

#include <limits>

#include <gtest/gtest.h>

namespace stackgate::html {
namespace {

TEST(Words, SizesInPowersOfAThousand) {
  EXPECT_EQ(size_words(0), "0 B");
  EXPECT_EQ(size_words(999), "999 B");
  EXPECT_EQ(size_words(1000), "1.0 kB");
  EXPECT_EQ(size_words(9'949), "9.9 kB");
  EXPECT_EQ(size_words(9'960), "10 kB");
  EXPECT_EQ(size_words(999'600), "1.0 MB");
  EXPECT_EQ(size_words(5'300'000'000), "5.3 GB");
  EXPECT_EQ(size_words(std::numeric_limits<std::uint64_t>::max()), "18 EB");
}

TEST(Words, NumbersInGroups) {
  EXPECT_EQ(grouped(999), "999");
  EXPECT_EQ(grouped(1'234'567), "1,234,567");
  EXPECT_EQ(counted(1, "commit"), "1 commit");
  EXPECT_EQ(counted(0, "commit"), "0 commits");
}

TEST(Words, TimesAsDistances) {
  constexpr std::int64_t today = 1'769'875'200;  // 2026-01-31T16:00:00Z
  EXPECT_EQ(ago_words(today - 5, today), "just now");
  EXPECT_EQ(ago_words(today - 60, today), "1 minute ago");
  EXPECT_EQ(ago_words(today - 7'200, today), "2 hours ago");
  EXPECT_EQ(ago_words(today - 86'400 * 3, today), "3 days ago");
  EXPECT_EQ(ago_words(today + 86'400 * 2, today), "in 2 days");
  EXPECT_EQ(ago_words(today - 86'400 * 40, today), "2025-12-22");
}

TEST(Words, TimesOfCommitsMayBeAnything) {
  EXPECT_EQ(date_words(0), "1970-01-01 00:00 UTC");
  EXPECT_EQ(date_words(std::numeric_limits<std::int64_t>::max()), "9999-12-31 23:59 UTC");
  EXPECT_EQ(date_words(std::numeric_limits<std::int64_t>::min()), "0001-01-01 00:00 UTC");
  EXPECT_EQ(ago_words(std::numeric_limits<std::int64_t>::min(), 5), "0001-01-01");
}

TEST(Words, ReadsTheTimesOfRecords) {
  EXPECT_EQ(seconds_of("2026-01-31T16:00:00Z"), 1'769'875'200);
  EXPECT_EQ(seconds_of(""), 0);
  EXPECT_EQ(seconds_of("2026-13-31T16:00:00Z"), 0);
  EXPECT_EQ(seconds_of("not a time at all!!"), 0);
  EXPECT_EQ(time_tag(1'769'875'200, 1'769'875'200).str(),
            R"(<time datetime="2026-01-31T16:00Z" title="2026-01-31 16:00 UTC">just now</time>)");
}

}  // namespace
}  // namespace stackgate::html
