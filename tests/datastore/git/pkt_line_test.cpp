#include "services/datastore/git/pkt_line.hpp"

#include <gtest/gtest.h>

namespace stackgate::datastore::git {
namespace {

TEST(PktLines, AreReadAsTheyAreWritten) {
  std::string text;
  append_pkt(text, "a\n");
  append_pkt(text, "");
  append_pkt(text, std::string(pkt_most - 4, 'x'));
  text += std::string(pkt_flush) + std::string(pkt_delimiter) + std::string(pkt_response_end);
  EXPECT_EQ(text.substr(0, 10), "0006a\n0004");
  std::string_view rest = text;
  EXPECT_EQ(next_pkt(rest).payload, "a\n");
  EXPECT_EQ(next_pkt(rest).payload, "");
  EXPECT_EQ(next_pkt(rest).payload.size(), pkt_most - 4);
  EXPECT_EQ(next_pkt(rest).kind, Pkt::Kind::flush);
  EXPECT_EQ(next_pkt(rest).kind, Pkt::Kind::delimiter);
  EXPECT_EQ(next_pkt(rest).kind, Pkt::Kind::response_end);
  EXPECT_EQ(next_pkt(rest).kind, Pkt::Kind::more);
}

TEST(PktLines, ThatAreCutWaitForMore) {
  for (const std::string_view cut : {"", "0", "000", "0006", "0006a"}) {
    std::string_view rest = cut;
    EXPECT_EQ(next_pkt(rest).kind, Pkt::Kind::more) << cut;
    EXPECT_EQ(rest, cut);
  }
}

TEST(PktLines, OfOtherShapesAreBad) {
  for (const std::string_view bad : {"0003", "fff1", "ffff", "x", "00g0", "-001", " 004"}) {
    std::string_view rest = bad;
    EXPECT_EQ(next_pkt(rest).kind, Pkt::Kind::bad) << bad;
  }
}

}  // namespace
}  // namespace stackgate::datastore::git
