#include "services/customizer/runs/cluster/log_lines.hpp"

#include <algorithm>

#include <gmock/gmock.h>

namespace stackgate::customizer {
namespace {

/// One reading of `text`.
std::string take_lines(LogCursor& cursor, std::string_view text) {
  LogLines lines(cursor);
  std::string out;
  for (; !text.empty(); text.remove_prefix(std::min(text.size(), text.find('\n') + 1)))
    if (const auto taken = lines.take(text.substr(0, text.find('\n')))) out += std::string(*taken) + "\n";
  return out;
}

const std::string first_part = "2026-11-26T21:00:00.1Z one\n2026-11-26T21:00:00.15Z two\n";
const std::string second_part = "2026-11-26T21:00:00.15Z three\n2026-11-26T21:00:01Z four\n";

TEST(LogLines, come_once_however_often_their_second_is_read) {
  LogCursor cursor;
  EXPECT_EQ(take_lines(cursor, first_part), "one\ntwo\n");
  // Times of a question are whole seconds to some servers: they give what was there already.
  EXPECT_EQ(take_lines(cursor, first_part + second_part), "three\nfour\n");
  EXPECT_EQ(take_lines(cursor, first_part + second_part), "");
  EXPECT_EQ(cursor.given, std::string("one\ntwo\nthree\nfour\n").size());
}

TEST(LogLines, of_one_time_are_counted) {
  LogCursor cursor;
  const std::string line = "2026-11-26T21:00:00Z same\n";
  EXPECT_EQ(take_lines(cursor, line + line), "same\nsame\n");
  EXPECT_EQ(take_lines(cursor, line + line + line), "same\n");
  EXPECT_EQ(take_lines(cursor, line + line + line + "2026-11-26T21:00:00.5Z next\n"), "next\n");
}

TEST(LogLines, may_be_empty) {
  LogCursor cursor;
  EXPECT_EQ(take_lines(cursor, "2026-11-26T21:00:00Z \n2026-11-26T21:00:01Z\n"), "\n\n");
  EXPECT_EQ(take_lines(cursor, ""), "");
}

}  // namespace
}  // namespace stackgate::customizer
