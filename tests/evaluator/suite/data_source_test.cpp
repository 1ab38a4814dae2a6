#include "services/evaluator/suite/data_source.hpp"

#include <gmock/gmock.h>

namespace stackgate::evaluator {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::SizeIs;

std::vector<std::string> shown(std::string_view text, std::size_t limit, validate::Findings& findings) {
  std::vector<std::string> out;
  for (const DataRow& row : rows_of("test.jsonl", text, limit, findings))
    out.push_back(std::to_string(row.line) + " " + row.text);
  return out;
}
std::vector<std::string> good(std::string_view text, std::size_t limit = most_rows) {
  validate::Findings findings;
  auto out = shown(text, limit, findings);
  EXPECT_THAT(findings, IsEmpty());
  return out;
}

TEST(DataRows, lines_and_arrays_are_rows_with_their_lines) {
  EXPECT_THAT(good("{\"a\":1}\n\n  \r\n{\"a\":2}"), ElementsAre("1 {\"a\":1}", "4 {\"a\":2}"));
  EXPECT_THAT(good("\xef\xbb\xbf{\"a\":1}\n"), ElementsAre("1 {\"a\":1}"));
  EXPECT_THAT(good("[{\"a\":1},\n {\"a\":\n  2}]"), ElementsAre("1 {\"a\":1}", "2 {\"a\":   2}"));
}

TEST(DataRows, no_more_than_the_limit_are_read) {
  EXPECT_THAT(good("{}\n{}\nnothing of this is read", 2), SizeIs(2));
  EXPECT_THAT(good("[{},{},{}]", 2), SizeIs(2));
}

TEST(DataRows, every_fault_has_its_line) {
  validate::Findings findings;
  EXPECT_THAT(shown("{\"a\":1}\n[]\n{\"a\"\n\"text\"\n{\"a\":1,\"a\":2}", most_rows, findings), SizeIs(1));
  ASSERT_THAT(findings, SizeIs(4));
  EXPECT_EQ(findings[0].path, "test.jsonl:2");
  EXPECT_THAT(findings[0].problem, HasSubstr("no object but array"));
  EXPECT_EQ(findings[1].path, "test.jsonl:3");
  EXPECT_THAT(findings[1].problem, HasSubstr("no JSON"));
  EXPECT_EQ(findings[3].path, "test.jsonl:5");
  EXPECT_THAT(findings[3].problem, HasSubstr("duplicate key"));
}

TEST(DataRows, a_file_without_rows_is_a_fault_and_so_is_a_broken_array) {
  validate::Findings findings;
  EXPECT_THAT(shown("\n\n", most_rows, findings), IsEmpty());
  EXPECT_THAT(shown("[]", most_rows, findings), IsEmpty());
  EXPECT_THAT(shown("[{},\n{]", most_rows, findings), IsEmpty());
  ASSERT_THAT(findings, SizeIs(3));
  EXPECT_EQ(findings[0].problem, "has no rows");
  EXPECT_EQ(findings[2].path, "test.jsonl:2");
}

TEST(DataRows, a_file_of_faults_shows_the_first_of_them) {
  validate::Findings findings;
  std::string text;
  for (int i = 0; i < 1000; ++i) text += "no\n";
  EXPECT_THAT(shown(text, most_rows, findings), IsEmpty());
  EXPECT_THAT(findings, SizeIs(20));
}

TEST(InlineSource, is_one_file) {
  const DataSource source = inline_source("{}\n");
  EXPECT_THAT(source.paths, ElementsAre("rows.jsonl"));
  EXPECT_EQ(source.text("rows.jsonl"), "{}\n");
  EXPECT_FALSE(source.text("other.jsonl"));
}

}  // namespace
}  // namespace stackgate::evaluator
