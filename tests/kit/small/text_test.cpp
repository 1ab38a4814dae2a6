#include <gtest/gtest.h>

#include "services/kit/base/ascii.hpp"
#include "services/kit/base/percent.hpp"
#include "services/kit/base/replace_all.hpp"
#include "services/kit/base/utf8.hpp"

namespace stackgate {
namespace {

TEST(Ascii, KnowsNoLetterBeyondIt) {
  for (int code = -128; code < 128; ++code) {
    const char c = static_cast<char>(code);
    const bool upper = c >= 'A' && c <= 'Z', lower = c >= 'a' && c <= 'z', digit = c >= '0' && c <= '9';
    EXPECT_EQ(ascii::is_alphanumeric(c), upper || lower || digit) << code;
    EXPECT_EQ(ascii::to_lower(c), upper ? static_cast<char>(c + 32) : c) << code;
    EXPECT_EQ(ascii::hex_value(c) >= 0, ascii::is_hex(c)) << code;
  }
  EXPECT_EQ(ascii::hex_value('9') * 256 + ascii::hex_value('f') * 16 + ascii::hex_value('A'), 0x9fa);
  EXPECT_EQ(ascii::to_lower("\xc3\x84Z[@"), "\xc3\x84z[@");
  EXPECT_TRUE(ascii::equal_ignoring_case("Bearer", "bEARER"));
  EXPECT_FALSE(ascii::equal_ignoring_case("a@", "A`"));
  EXPECT_FALSE(ascii::equal_ignoring_case("a", "aa"));
}

TEST(Percent, EncodesAllButUnreservedCharacters) {
  EXPECT_EQ(percent_encode("a-b.c_d~e/f g%\xc3\xa9"), "a-b.c_d~e%2Ff%20g%25%C3%A9");
  EXPECT_EQ(percent_encode("a/b c", "/"), "a/b%20c");
  std::string all;
  for (int code = 0; code < 256; ++code) all += static_cast<char>(code);
  EXPECT_EQ(percent_decoded(percent_encode(all)), all);
}

TEST(Percent, RefusesBrokenEscapes) {
  EXPECT_EQ(percent_decoded("%c3%A9+%00"), std::string("\xc3\xa9+\0", 4));
  for (const char* broken : {"%", "%4", "a%4", "%g0", "%0g", "%%20"}) EXPECT_EQ(percent_decoded(broken), std::nullopt);
}

TEST(Utf8, IsValidUpToTheLastByte) {
  EXPECT_TRUE(utf8::is_valid(""));
  EXPECT_TRUE(utf8::is_valid("a\xc3\xa9\xe2\x82\xac\xf0\x9f\x98\x80"));
  for (const char* broken : {"\x80", "\xc3", "a\xe2\x82", "\xc0\xaf", "\xed\xa0\x80", "\xf4\x90\x80\x80"})
    EXPECT_FALSE(utf8::is_valid(broken));
}

TEST(ReplaceAll, GoesOnBehindWhatItPutIn) {
  EXPECT_EQ(replace_all("", "a", "b"), "");
  EXPECT_EQ(replace_all("text", "", "b"), "text");
  EXPECT_EQ(replace_all("a*b*", "*", "***"), "a***b***");
  EXPECT_EQ(replace_all("aaa", "aa", "a"), "aa");
  EXPECT_EQ(replace_all("one two", "two", ""), "one ");
}

}  // namespace
}  // namespace stackgate
