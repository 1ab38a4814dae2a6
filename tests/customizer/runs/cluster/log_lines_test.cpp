#include "services/customizer/runs/cluster/log_lines.hpp"

#include <gmock/gmock.h>

namespace stackgate::customizer {
namespace {

const std::string first_part = "2026-11-26T21:00:00.1Z one\n2026-11-26T21:00:00.15Z two\n";
const std::string second_part = "2026-11-26T21:00:00.15Z three\n2026-11-26T21:00:01Z four\n";

TEST(LogLines, come_once_however_often_their_second_is_read) {
  LogCursor cursor;
  EXPECT_EQ(take_lines(cursor, first_part, false), "one\ntwo\n");
  // Times of a question are whole seconds to some servers: they give what was there already.
  EXPECT_EQ(take_lines(cursor, first_part + second_part, false), "three\nfour\n");
  EXPECT_EQ(take_lines(cursor, first_part + second_part, false), "");
  EXPECT_EQ(cursor.given, std::string("one\ntwo\nthree\nfour\n").size());
}

TEST(LogLines, of_one_time_are_counted) {
  LogCursor cursor;
  const std::string line = "2026-11-26T21:00:00Z same\n";
  EXPECT_EQ(take_lines(cursor, line + line, false), "same\nsame\n");
  EXPECT_EQ(take_lines(cursor, line + line + line, false), "same\n");
  EXPECT_EQ(take_lines(cursor, line + line + line + "2026-11-26T21:00:00.5Z next\n", false), "next\n");
}

TEST(LogLines, without_their_end_wait_for_it) {
  LogCursor cursor;
  EXPECT_EQ(take_lines(cursor, "2026-11-26T21:00:00Z one\n2026-11-26T21:00:01Z tw", false), "one\n");
  EXPECT_EQ(take_lines(cursor, "2026-11-26T21:00:00Z one\n2026-11-26T21:00:01Z two", true), "two\n");
}

TEST(LogLines, may_be_empty) {
  LogCursor cursor;
  EXPECT_EQ(take_lines(cursor, "2026-11-26T21:00:00Z \n2026-11-26T21:00:01Z\n", true), "\n\n");
  EXPECT_EQ(take_lines(cursor, "", true), "");
}

}  // namespace
}  // namespace stackgate::customizer
