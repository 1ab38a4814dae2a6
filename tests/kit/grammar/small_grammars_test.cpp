#include <string>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "services/kit/grammar/characters.hpp"
#include "services/kit/grammar/integer_text.hpp"
#include "services/kit/grammar/path_names.hpp"

namespace stackgate::validate::grammar {
namespace {

using ::testing::HasSubstr;

TEST(IntegerText, TakesPlainDecimals) {
  EXPECT_EQ(*parse_integer("-9223372036854775808"), INT64_MIN);
  EXPECT_EQ(*parse_integer("0"), 0);
  EXPECT_EQ(*parse_positive_integer("8"), 8);
  const std::pair<std::string_view, std::string_view> table[] = {
      {"", "for example"},    {"eight", "for example"}, {"8.0", "for example"},  {" 8", "\"8\""},
      {"+8", "\"8\""},        {"008", "\"8\""},         {"00", "\"0\""},         {"0x8", "for example"},
      {"0", "positive"},      {"-1", "positive"},       {"-", "for example"},    {"9223372036854775808", "64 bits"},
      {"1e3", "for example"}, {"8\n", "\"8\""},         {"8\xff", "for example"}};
  for (const auto& [text, cure] : table) {
    const auto parsed = parse_positive_integer(text);
    ASSERT_FALSE(parsed) << text;
    EXPECT_THAT(parsed.error().fix, HasSubstr(std::string(cure))) << text << ": " << parsed.error().problem;
  }
}

TEST(SubPath, StaysInsideTheVolume) {
  for (const std::string_view text : {"a", "a/b", "a..b", "...", "a//b", "a/", "."})
    EXPECT_FALSE(check_relative_sub_path(text)) << text;
  for (const std::string_view text : {"", "/a", "..", "a/..", "../a", "a/../b", "/"})
    EXPECT_TRUE(check_relative_sub_path(text)) << text;
  EXPECT_TRUE(check_relative_sub_path(std::string_view("a\0b", 3)));
  EXPECT_THAT(check_relative_sub_path("/models")->fix, HasSubstr("\"models\""));
}

TEST(MountPath, IsAbsoluteWithoutColon) {
  for (const std::string_view text : {"/", "/a", "/a/b..c"}) EXPECT_FALSE(check_mount_path(text)) << text;
  for (const std::string_view text : {"", "a", "/a:b", "/a/../b", "C:\\x"}) EXPECT_TRUE(check_mount_path(text)) << text;
  EXPECT_THAT(check_mount_path("data")->fix, HasSubstr("\"/data\""));
}

TEST(Characters, AreNamedForPeople) {
  EXPECT_EQ(name_character("a b", 1), "a space");
  EXPECT_EQ(name_character("é", 0), "'é'");
  EXPECT_EQ(name_character("\xc3", 0), "byte 0xc3");
  EXPECT_EQ(name_character("\xc2\x80", 0), "byte 0xc2");
  EXPECT_EQ(name_character("\xed\xa0\x80", 0), "byte 0xed");
  EXPECT_EQ(name_character("\x01", 0), "control character 0x01");
  EXPECT_EQ(name_character("", 0), "the end");
  EXPECT_EQ(place_character("éx_", 3), "'_' (character 3)");
  EXPECT_EQ(quote_short("a\"b"), "");
}

}  // namespace
}  // namespace stackgate::validate::grammar
