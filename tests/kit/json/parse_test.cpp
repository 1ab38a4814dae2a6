#include "services/kit/json/parse.hpp"

#include <cmath>
#include <limits>
#include <string>

#include <gmock/gmock.h>

#include "services/kit/json/write.hpp"

namespace stackgate::json {
namespace {

using testing::HasSubstr;

struct Refused {
  std::string text;
  std::uint32_t offset;
  std::string says;
};

class RefusedText : public testing::TestWithParam<Refused> {};

TEST_P(RefusedText, is_an_error_at_its_place) {
  Document document;
  const auto result = parse(GetParam().text, document);
  ASSERT_FALSE(result.has_value()) << GetParam().text;
  EXPECT_EQ(result.error().offset, GetParam().offset) << result.error().message;
  EXPECT_THAT(result.error().message, HasSubstr(GetParam().says));
  EXPECT_TRUE(document.root.is_null());
}

INSTANTIATE_TEST_SUITE_P(json, RefusedText,
                         testing::ValuesIn(std::vector<Refused>{
                             {"", 0, "the text is empty"},
                             {" \n", 2, "the text is empty"},
                             {"{", 1, "but the text ends here"},
                             {"[1,]", 3, "expected a value, not ']'"},
                             {"[1 2]", 3, "expected ',' or ']'"},
                             {"[1}", 2, "expected ',' or ']'"},
                             {"{\"a\":1]", 6, "expected ',' or '}'"},
                             {"{\"a\" 1}", 5, "':' behind the key"},
                             {"{a:1}", 1, "a key in double quotes"},
                             {"{\"a\":1,}", 7, "a key in double quotes"},
                             {"{\"a\":}", 5, "expected a value, not '}'"},
                             {"1 1", 2, "expected the end of the text"},
                             {"tru", 0, "expected a value"},
                             {"nulL", 0, "expected a value"},
                             {"'a'", 0, "expected a value"},
                             {"NaN", 0, "expected a value"},
                             {"+1", 0, "expected a value"},
                             {"-", 1, "a digit must follow the minus sign"},
                             {"-a", 1, "a digit must follow the minus sign"},
                             {"01", 0, "must not begin with 0"},
                             {"1.", 2, "follow the decimal point"},
                             {".5", 0, "expected a value"},
                             {"1e", 2, "follow the exponent"},
                             {"1e+", 3, "follow the exponent"},
                             {"1e400", 0, "too large"},
                             {"-1e400", 0, "too large"},
                             {"\"abc", 0, "unterminated string"},
                             {"\"abc\\", 0, "unterminated string"},
                             {"\"abc\\\"", 0, "unterminated string"},
                             {"\"a\\x\"", 2, "no such escape"},
                             {"\"\\u12g4\"", 1, "four hexadecimal digits"},
                             {"\"\\u12\"", 1, "four hexadecimal digits"},
                             {"\"\\ud800\"", 1, "surrogate"},
                             {"\"\\udc00\"", 1, "surrogate"},
                             {"\"\\ud800\\u0041\"", 1, "surrogate"},
                             {"\"a\nb\"", 2, "control character (0x0a)"},
                             {"\"\xC0\x80\"", 1, "not UTF-8"},
                             {"\"\xED\xA0\x80\"", 1, "not UTF-8"},
                             {"\"\xF4\x90\x80\x80\"", 1, "not UTF-8"},
                             {"\"\xE2\x82\"", 1, "not UTF-8"},
                             {"\"0123456789abcdef\xFF\"", 17, "not UTF-8"},
                             {"\xFF", 0, "not byte 0xff"},
                             {"\xEF\xBB\xBF{}", 0, "byte order mark"},
                             {R"({"a":1,"b":{"c":1,"c":2}})", 18, "duplicate key \"c\""},
                             {R"({"spec":1,"sp\u0065c":2})", 10, "duplicate key \"spec\""},
                             {R"({"":1,"":2})", 6, "duplicate key \"\""},
                             {"/* */ 1", 0, "expected a value"},
                             {std::string("1\0", 2), 1, "not byte 0x00"},
                         }));

struct Accepted {
  std::string text, as;
};

class AcceptedText : public testing::TestWithParam<Accepted> {};

TEST_P(AcceptedText, is_read_as_written) {
  Document document;
  const auto result = parse(GetParam().text, document);
  ASSERT_TRUE(result.has_value()) << result.error().message;
  EXPECT_EQ(to_json(*result), GetParam().as);
}

INSTANTIATE_TEST_SUITE_P(
    json, AcceptedText,
    testing::ValuesIn(std::vector<Accepted>{
        {" { } ", "{}"},
        {"[ ]", "[]"},
        {"\t\r\n null ", "null"},
        {"[true,false,null]", "[true,false,null]"},
        {R"({"a":{"b":[1,{"c":[]},[[]]],"d":""},"e":-0})", R"({"a":{"b":[1,{"c":[]},[[]]],"d":""},"e":0})"},
        {"9223372036854775807", "9223372036854775807"},
        {"-9223372036854775808", "-9223372036854775808"},
        {"9223372036854775808", "9223372036854775808"},
        {"1.5e3", "1500"},
        {"1e-400", "0"},
        {"0.1", "0.1"},
        {R"("\"\\\/\b\f\n\r\t\u0001\u00e9\u20ac\ud83d\ude00")", "\"\\\"\\\\/\\b\\f\\n\\r\\t\\u0001é€😀\""},
        {R"("0123456789abcdef0123456789abcdef\n0123456789abcdef")",
         R"("0123456789abcdef0123456789abcdef\n0123456789abcdef")"},
        {"\"ünïcödé ☸ 😀 plain text behind it\"", "\"ünïcödé ☸ 😀 plain text behind it\""},
        {R"("\u0000")", R"("\u0000")"},
    }));

TEST(Parse, tells_integers_from_numbers) {
  Document document;
  const Value list = *parse("[1, -5, 1.0, 1e2, 18446744073709551615, 9007199254740993]", document);
  EXPECT_TRUE(list.items()[0].is_integer());
  EXPECT_EQ(list.items()[1].integer(), -5);
  EXPECT_EQ(list.items()[2].type(), Type::number);
  EXPECT_EQ(list.items()[3].type(), Type::number);
  EXPECT_EQ(list.items()[4].type(), Type::number);
  EXPECT_EQ(list.items()[4].number(), 18446744073709551615.0);
  EXPECT_EQ(list.items()[5].integer(), 9007199254740993);
}

TEST(Parse, knows_where_every_value_and_key_stands) {
  const std::string text = R"( {"a": [1, "x\n", {}], "b" : null})";
  Document document;
  const Value root = *parse(text, document);
  EXPECT_EQ(root.offset(), 1U);
  EXPECT_EQ(root.members()[0].key_offset, 2U);
  EXPECT_EQ(root.members()[0].value.offset(), 7U);
  EXPECT_EQ(root.members()[0].value.items()[1].offset(), 11U);
  EXPECT_EQ(root.members()[0].value.items()[2].offset(), 18U);
  EXPECT_EQ(text.substr(root.find("b")->offset()), "null}");
}

TEST(Parse, strings_without_escapes_are_views_into_the_text) {
  const std::string text = R"(["plain", "esc\taped"])";
  Document document;
  const Value root = *parse(text, document);
  EXPECT_EQ(root.items()[0].string().data(), text.data() + 2);
  EXPECT_EQ(root.items()[1].string(), "esc\taped");
}

TEST(Parse, deep_nesting_is_an_error_and_no_stack_overflow) {
  const auto nested = [](std::size_t depth) { return std::string(depth, '[') + std::string(depth, ']'); };
  Document document;
  EXPECT_TRUE(parse(nested(512), document).has_value());
  const auto deep = parse(nested(513), document);
  ASSERT_FALSE(deep.has_value());
  EXPECT_EQ(deep.error().offset, 512U);
  EXPECT_THAT(deep.error().message, HasSubstr("deeper than 512"));
  EXPECT_FALSE(parse(std::string(5'000'000, '['), document).has_value());
}

TEST(Parse, text_over_the_limit_is_an_error) {
  Document document;
  EXPECT_TRUE(parse("[1,2]", document, {.max_bytes = 5}).has_value());
  EXPECT_FALSE(parse("[1,2,3]", document, {.max_bytes = 5}).has_value());
}

TEST(Parse, finds_the_first_duplicate_among_many_keys) {
  std::string text = "{";
  for (int i = 0; i < 5000; ++i) text += "\"key" + std::to_string(i) + "\":1,";
  const std::size_t place = text.size();
  text += "\"key77\":1,\"key3\":2}";
  Document document;
  const auto result = parse(text, document);
  ASSERT_FALSE(result.has_value());
  EXPECT_EQ(result.error().offset, place);
  EXPECT_EQ(result.error().message, "duplicate key \"key77\"");
}

TEST(Parse, a_document_is_reusable) {
  Document document;
  ASSERT_TRUE(parse(R"({"a":[1,2,3]})", document).has_value());
  ASSERT_FALSE(parse("{", document).has_value());
  EXPECT_EQ(document.arena.bytes_used(), 0U);
  ASSERT_TRUE(parse(R"({"b":"x"})", document).has_value());
  EXPECT_EQ(document.root.find("b")->string(), "x");
}

TEST(Parse, every_truncation_of_a_document_is_an_error) {
  const std::string text = R"({"a":[1.5e3,-2,"x\u20ac\\",true,{"b":null}],"c":"é"})";
  Document document;
  ASSERT_TRUE(parse(text, document).has_value());
  for (std::size_t length = 0; length < text.size(); ++length)
    EXPECT_FALSE(parse(std::string(text, 0, length), document).has_value()) << length;
}

}  // namespace
}  // namespace stackgate::json
