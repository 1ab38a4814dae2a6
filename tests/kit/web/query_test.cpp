#include "services/kit/web/query.hpp"

#include <gtest/gtest.h>

#include "services/kit/base/percent.hpp"

namespace stackgate::web {
namespace {

TEST(PercentCoding, DecodesEscapesAndRefusesBrokenOnes) {
  const struct {
    std::string_view text;
    std::optional<std::string> expected;
  } cases[] = {
      {"", ""},
      {"abc", "abc"},
      {"a%20b", "a b"},
      {"feature%2Fx", "feature/x"},
      {"%c3%A9", "\xc3\xa9"},
      {"a+b", "a+b"},
      {"100%25", "100%"},
      {"%", {}},
      {"%2", {}},
      {"a%2", {}},
      {"%zz", {}},
      {"%2g", {}},
      {"%00", {}},
      {"a%00b", {}},
      {"%2e%2E", ".."},
      {"%%3%34", {}},
      {"%2520", "%20"},
  };
  for (const auto& each : cases) EXPECT_EQ(percent_decode(each.text), each.expected) << each.text;
  EXPECT_EQ(percent_decode(std::string_view("a\0b", 3)), std::nullopt);
}

TEST(PercentCoding, EncodesAllButUnreservedCharacters) {
  EXPECT_EQ(percent_encode("azAZ09-._~"), "azAZ09-._~");
  EXPECT_EQ(percent_encode("a b/c?d#e%"), "a%20b%2Fc%3Fd%23e%25");
  EXPECT_EQ(percent_encode("a b/c", "/"), "a%20b/c");
  EXPECT_EQ(percent_encode("\xc3\xa9\n"), "%C3%A9%0A");
  std::string all;
  for (int i = 1; i < 256; ++i) all += static_cast<char>(i);
  EXPECT_EQ(percent_decode(percent_encode(all)), all);
}

TEST(Query, ReadsPairsInOrder) {
  using Pairs = std::vector<std::pair<std::string, std::string>>;
  const struct {
    std::string_view text;
    Pairs expected;
  } cases[] = {
      {"", {}},
      {"a=1", {{"a", "1"}}},
      {"a=1&b=2&a=3", {{"a", "1"}, {"b", "2"}, {"a", "3"}}},
      {"a", {{"a", ""}}},
      {"=1", {{"", "1"}}},
      {"a=", {{"a", ""}}},
      {"a=b=c", {{"a", "b=c"}}},
      {"&&a=1&", {{"a", "1"}}},
      {"a+b=c+d", {{"a b", "c d"}}},
      {"a%20b=%26%3D", {{"a b", "&="}}},
      {"p=100%&q=%zz", {{"p", "100%"}, {"q", "%zz"}}},
      {"filter%5Bname%5D=x", {{"filter[name]", "x"}}},
  };
  for (const auto& each : cases) EXPECT_EQ(Query::parse(each.text).pairs(), each.expected) << each.text;
}

TEST(Query, FindsByName) {
  const Query query = Query::parse("expand=sha&expand=siblings&limit=5");
  EXPECT_EQ(query.get("expand"), "sha");
  EXPECT_EQ(query.get("limit"), "5");
  EXPECT_EQ(query.get("Limit"), std::nullopt);
  EXPECT_EQ(query.all("expand"), (std::vector<std::string_view>{"sha", "siblings"}));
  EXPECT_TRUE(query.all("x").empty());
}

TEST(Query, ReadsAThousandPairsAndNoMore) {
  std::string text;
  for (int i = 0; i < 5000; ++i) text += "a&";
  EXPECT_EQ(Query::parse(text).pairs().size(), 1000U);
}

}  // namespace
}  // namespace stackgate::web
