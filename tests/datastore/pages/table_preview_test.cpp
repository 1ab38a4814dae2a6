#include "services/datastore/pages/table_preview.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace stackgate::datastore::pages {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;

std::vector<std::string> row_of(const Table& table, std::size_t row) {
  std::vector<std::string> out;
  for (const Cell& each : table.rows.at(row)) out.push_back(each.kind == Cell::Kind::none ? "-" : each.text);
  return out;
}

TEST(JsonLines, NamesColumnsInTheOrderInWhichTheyCome) {
  const Table table =
      read_json_lines("{\"a\": 1, \"b\": \"x\\ny\"}\n{\"b\": null, \"c\": {\"d\": [1, 2]} , \"a\" : true}\n", true);
  EXPECT_THAT(table.columns, ElementsAre("a", "b", "c"));
  EXPECT_THAT(row_of(table, 0), ElementsAre("1", "x\ny"));
  EXPECT_THAT(row_of(table, 1), ElementsAre("true", "-", "{\"d\": [1, 2]}"));
  EXPECT_EQ(table.rows[0][0].kind, Cell::Kind::number);
  EXPECT_FALSE(table.more_rows);
}

TEST(JsonLines, KeepsNumbersAsTheyAreWritten) {
  const Table table = read_json_lines("{\"a\":1e300,\"b\":-0.10, \"c\":12345678901234567890}\n[1.50,[],{}]\n", true);
  EXPECT_THAT(row_of(table, 1), testing::IsSupersetOf({"1.50", "[]", "{}"}));
  EXPECT_EQ(row_of(table, 0)[1], "-0.10");
}

TEST(JsonLines, TellsWhichLinesAreBroken) {
  const Table table = read_json_lines("{\"a\":1}\n{\"a\":\n\n{\"a\":2}\n", true);
  EXPECT_EQ(table.rows.size(), 2U);
  ASSERT_EQ(table.problems.size(), 1U);
  EXPECT_THAT(table.problems[0], HasSubstr("line 2"));
}

TEST(JsonLines, LeavesOutALineThatTheBytesEndIn) {
  const Table part = read_json_lines("{\"a\":1}\n{\"a\":2", false);
  EXPECT_EQ(part.rows.size(), 1U);
  EXPECT_TRUE(part.more_rows);
  EXPECT_TRUE(part.problems.empty());
  EXPECT_EQ(read_json_lines("{\"a\":1}\n{\"a\":2}", true).rows.size(), 2U);
}

TEST(JsonLines, StopsAtItsLimits) {
  std::string text, wide = "{";
  for (int i = 0; i < 100; ++i) {
    text += "{\"a\":\"" + std::string(2000, 'x') + "\"}\n";
    wide += (i > 0 ? ",\"" : "\"") + std::to_string(i) + "\":1";
  }
  const Table rows = read_json_lines(text, true);
  EXPECT_EQ(rows.rows.size(), 50U);
  EXPECT_TRUE(rows.more_rows);
  EXPECT_EQ(rows.rows[0][0].text.size(), 600U);
  EXPECT_TRUE(rows.rows[0][0].cut);
  const Table columns = read_json_lines(wide + "}\n", true);
  EXPECT_EQ(columns.columns.size(), 40U);
  EXPECT_TRUE(columns.more_columns);
}

TEST(JsonLines, CutsBetweenCharacters) {
  const Table table = read_json_lines("{\"a\":\"xäöü\"}\n", true, {.cell_bytes = 4});
  EXPECT_EQ(table.rows[0][0].text, "xä");
}

TEST(Csv, ReadsQuotesLineBreaksAndDoubledQuotes) {
  const Table table = read_csv("a,b,c\r\n1,\"x, \"\"y\"\"\r\nz\",\r\n-2.5e3,é,\" \"\r\n", true);
  EXPECT_THAT(table.columns, ElementsAre("a", "b", "c"));
  EXPECT_THAT(row_of(table, 0), ElementsAre("1", "x, \"y\"\r\nz", "-"));
  EXPECT_THAT(row_of(table, 1), ElementsAre("-2.5e3", "é", " "));
  EXPECT_EQ(table.rows[1][0].kind, Cell::Kind::number);
  EXPECT_EQ(table.rows[1][1].kind, Cell::Kind::text);
}

TEST(Csv, FindsItsSeparator) {
  EXPECT_THAT(read_csv("a;b,c;d\n1;2;3\n", true).columns, ElementsAre("a", "b,c", "d"));
  EXPECT_THAT(read_csv("a\tb\n1\t2\n", true).columns, ElementsAre("a", "b"));
  EXPECT_THAT(read_csv("\"a,b\"|c\n", true).columns, ElementsAre("a,b", "c"));
}

TEST(Csv, TellsOfRowsThatDoNotFit) {
  const Table table = read_csv("a,b\n1\n1,2,3\n1,2\n", true);
  EXPECT_EQ(table.rows.size(), 3U);
  ASSERT_EQ(table.problems.size(), 2U);
  EXPECT_THAT(table.problems[0], HasSubstr("line 2: 1 fields, the first row has 2"));
  EXPECT_EQ(table.rows[1].size(), 2U) << "no more cells than columns";
}

TEST(Csv, TellsOfAQuoteWithoutEnd) {
  const Table whole = read_csv("a,b\n1,\"x\n2,3\n", true);
  ASSERT_FALSE(whole.problems.empty());
  EXPECT_THAT(whole.problems[0], HasSubstr("no end"));
  EXPECT_TRUE(read_csv("a,b\n1,\"x\n2,3\n", false).problems.empty()) << "it may come later";
}

TEST(Csv, HoldsTextsLikeFormulasAsText) {
  const Table table = read_csv("a\n=HYPERLINK(\"\"x\"\")\n+1\n@x\n", true);
  EXPECT_EQ(table.rows[0][0].kind, Cell::Kind::text);
  EXPECT_EQ(table.rows[1][0].kind, Cell::Kind::number);
}

TEST(Csv, IsEmptyWithoutText) {
  EXPECT_TRUE(read_csv("", true).columns.empty());
  EXPECT_TRUE(read_csv("\n\n\n", true).columns.empty());
  EXPECT_TRUE(read_csv("a,b", false).columns.empty()) << "the first line may go on";
}

}  // namespace
}  // namespace stackgate::datastore::pages
