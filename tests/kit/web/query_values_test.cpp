#include "services/kit/web/query_values.hpp"

#include <array>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace stackgate::web {
namespace {

using testing::HasSubstr;

std::string refusal(const auto& read) {
  return read || read.error().findings.empty()
             ? ""
             : read.error().findings[0].path + ": " + read.error().findings[0].problem + "; " +
                   read.error().findings[0].fix;
}

TEST(QueryValues, of_switches) {
  for (const char* text : {"x", "x=", "x=true", "x=1"}) EXPECT_EQ(read_flag(Query::parse(text), "x"), true) << text;
  for (const char* text : {"", "y=1", "x=false", "x=0"}) EXPECT_EQ(read_flag(Query::parse(text), "x"), false) << text;
  for (const char* text : {"x=yes", "x=TRUE", "x=2"}) {
    const auto read = read_flag(Query::parse(text), "x");
    EXPECT_THAT(refusal(read), HasSubstr("query.x: is neither true nor false")) << text;
    EXPECT_EQ(read.error().status, 422);
  }
}

TEST(QueryValues, of_numbers) {
  EXPECT_EQ(read_number(Query::parse(""), "n", 7), 7);
  EXPECT_EQ(read_number(Query::parse("n=0"), "n", 7), 0);
  EXPECT_EQ(read_number(Query::parse("n=-1"), "n", 7, -1), -1);
  EXPECT_EQ(read_number(Query::parse("n=9223372036854775807"), "n", 7), INT64_MAX);
  for (const char* text : {"n=", "n=-1", "n=1.5", "n=x", "n=1x", "n=9223372036854775808"})
    EXPECT_EQ(refusal(read_number(Query::parse(text), "n", 7)), "query.n: is no whole number from 0; write n=7")
        << text;
}

TEST(QueryValues, of_words) {
  constexpr std::array<std::string_view, 2> known = {"running", "failed"};
  EXPECT_EQ(read_word(Query::parse(""), "s", known), "");
  EXPECT_EQ(read_word(Query::parse("s=failed"), "s", known), "failed");
  EXPECT_THAT(refusal(read_word(Query::parse("s=runnng"), "s", known)), HasSubstr("did you mean \"running\"?"));
  EXPECT_THAT(refusal(read_word(Query::parse("s=q"), "s", known)), HasSubstr("write one of running, failed"));
}

TEST(QueryValues, of_filters) {
  constexpr std::array<std::string_view, 2> known = {"filter[state]", "filter[model]"};
  for (const char* text : {"", "page=2", "filter[state]=x&filter%5Bmodel%5D=y"})
    EXPECT_TRUE(only_filters(Query::parse(text), known)) << text;
  EXPECT_EQ(refusal(only_filters(Query::parse("filter[stat]=x"), known)),
            "query.filter[stat]: filters nothing here; did you mean filter[state]?");
  EXPECT_THAT(refusal(only_filters(Query::parse("filter[created_at]=x"), known)),
              HasSubstr("there are filter[state], filter[model]"));
  EXPECT_EQ(only_filters(Query::parse("filter=x"), known).error().status, 422);
}

}  // namespace
}  // namespace stackgate::web
