#include "services/kit/yaml/parse.hpp"

#include <string>
#include <tuple>
#include <vector>

#include <gmock/gmock.h>

#include "services/kit/json/write.hpp"
#include "services/kit/yaml/lines.hpp"

namespace stackgate::yaml {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;

std::vector<std::string> read_all(const std::string& text, Cut cut = Cut::at_documents) {
  std::vector<std::string> out;
  Reader reader(text, {}, cut);
  json::Document document;
  while (reader.next(document)) out.push_back(json::to_json(document.root));
  if (reader.failed())
    out.push_back("error at " + std::to_string(reader.error().offset) + ": " + reader.error().message);
  return out;
}

struct Scalar {
  std::string yaml, json;
};

class ScalarMeaning : public testing::TestWithParam<Scalar> {};

// The right column is what `kubectl annotate --local -o json` 1.20 prints for the left one.
TEST_P(ScalarMeaning, is_that_of_kubectl) {
  for (const Cut cut : {Cut::at_documents, Cut::nowhere})
    EXPECT_THAT(read_all("v: " + GetParam().yaml + "\n", cut), ElementsAre("{\"v\":" + GetParam().json + "}"));
}

INSTANTIATE_TEST_SUITE_P(yaml, ScalarMeaning,
                         testing::ValuesIn(std::vector<Scalar>{
                             {"", "null"},
                             {"~", "null"},
                             {"null", "null"},
                             {"Null", "null"},
                             {"nULL", "\"nULL\""},
                             {"y", "true"},
                             {"Y", "true"},
                             {"yes", "true"},
                             {"On", "true"},
                             {"TRUE", "true"},
                             {"tRUE", "\"tRUE\""},
                             {"n", "false"},
                             {"No", "false"},
                             {"off", "false"},
                             {"False", "false"},
                             {"\"yes\"", "\"yes\""},
                             {"'no'", "\"no\""},
                             {"!!str yes", "\"yes\""},
                             {"!!int 3", "3"},
                             {"! 3", "\"3\""},
                             {"!!float 3", "3"},
                             {"!local 3", "\"3\""},
                             {"!!bool on", "true"},
                             {"!!binary aGVsbG8=", "\"hello\""},
                             {"!!binary /w==", "\"\xEF\xBF\xBD\""},
                             {"!!binary \"\"", "\"\""},
                             {"0", "0"},
                             {"-0", "0"},
                             {"42", "42"},
                             {"+42", "42"},
                             {"-42", "-42"},
                             {"1_000", "1000"},
                             {"_1", "\"_1\""},
                             {"017", "15"},
                             {"0o17", "15"},
                             {"0x1F", "31"},
                             {"-0x1f", "-31"},
                             {"0b101", "5"},
                             {"-0b101", "-5"},
                             {"08", "8"},
                             {"0x", "\"0x\""},
                             {"1.5", "1.5"},
                             {"1.", "1"},
                             {".5", "0.5"},
                             {"+.5", "0.5"},
                             {".", "\".\""},
                             {"1e3", "1000"},
                             {"1E-2", "0.01"},
                             {"1e", "\"1e\""},
                             {"1.5.2", "\"1.5.2\""},
                             {"1e999", "\"1e999\""},

                             {"--x", "\"--x\""},
                             {"2001-01-01", "\"2001-01-01\""},
                             {"12:30:45", "\"12:30:45\""},
                             {"9223372036854775807", "9223372036854775807"},
                             {"-9223372036854775808", "-9223372036854775808"},
                             {"18446744073709551616", "18446744073709551616"},
                             {"100m", "\"100m\""},
                             {"1Gi", "\"1Gi\""},
                             {"nvidia.com/gpu", "\"nvidia.com/gpu\""},
                             {"http://x:80/y?z=1#f", "\"http://x:80/y?z=1#f\""},
                             {"a # comment", "\"a\""},
                             {"a#b", "\"a#b\""},
                             {"a  b  ", "\"a  b\""},
                             {"\"a\\tb\\u00e9\\x41\"", "\"a\\tbéA\""},
                             {"'it''s'", "\"it's\""},
                             {"\"say \\\"hi\\\" \\\\ \\n\"", "\"say \\\"hi\\\" \\\\ \\n\""},
                             {"[a, 1, \"b\", [], {}]", "[\"a\",1,\"b\",[],{}]"},
                             {"{a: 1, \"b\": [x, z]}", "{\"a\":1,\"b\":[\"x\",\"z\"]}"},
                             {"{a: 1, b}", "{\"a\":1,\"b\":null}"},
                             {"[a: 1]", "[{\"a\":1}]"},

                         }));

struct Text {
  std::string yaml;
  std::vector<std::string> documents;
};

class Documents : public testing::TestWithParam<Text> {};

TEST_P(Documents, are_read_alike_cut_and_whole) {
  EXPECT_EQ(read_all(GetParam().yaml), GetParam().documents);
  EXPECT_EQ(read_all(GetParam().yaml, Cut::nowhere), GetParam().documents);
}

INSTANTIATE_TEST_SUITE_P(
    yaml, Documents,
    testing::ValuesIn(std::vector<Text>{
        {"", {}},
        {"# nothing\n", {}},
        {"---\n# a\n---\n\n---\n# b\n", {}},
        {"---\na: 1\n---\n---\nb: 2\n", {R"({"a":1})", R"({"b":2})"}},
        {"a: 1\n--- # second\nb: 2", {R"({"a":1})", R"({"b":2})"}},
        {"--- {a: 1}\n--- b\n", {R"({"a":1})", R"("b")"}},
        {"%YAML 1.1\n---\na: 1\n...\n---\nb: 2\n...\n", {R"({"a":1})", R"({"b":2})"}},
        {"\xEF\xBB\xBF"
         "a: é\nb: 1\n",
         {R"({"a":"é","b":1})"}},
        {"a: 1\r\nb:\r\n- x\r\n---\r\nc: 2\r\n", {R"({"a":1,"b":["x"]})", R"({"c":2})"}},
        {"a:\n  b:\n    - c: 1\n      d: 2\n    - e\n  f: {}\n", {R"({"a":{"b":[{"c":1,"d":2},"e"],"f":{}}})"}},
        {"a:\n- b\n- c: 1\n  d:\n  - x\n  - z\ne: 2\n", {R"({"a":["b",{"c":1,"d":["x","z"]}],"e":2})"}},
        {"- - a\n  - b\n-\n  - c\n-\n- d: 1\n", {R"([["a","b"],["c"],null,{"d":1}])"}},
        {"a:\nb:\n  # comment\n\n  c: 1\n# end\n", {R"({"a":null,"b":{"c":1}})"}},
        {"a: |\n  one\n   two\n\n  three\n\nb: 1\n", {R"({"a":"one\n two\n\nthree\n","b":1})"}},
        {"a: |-\n  one\n  # no comment\n\n\nb: 1\n", {R"({"a":"one\n# no comment","b":1})"}},
        {"a: |+\n  one\n\n\nb: 1\n", {R"({"a":"one\n\n\n","b":1})"}},
        {"a: |\n\n  one\n  ---\n  two", {R"({"a":"\none\n---\ntwo"})"}},
        {"a: |2\n   one\nb: 1\n", {R"({"a":" one\n","b":1})"}},
        {"a: >\n  one\n  two\n\n  three\n    four\n    five\n  six\n\n\nb: 1\n",
         {R"({"a":"one two\nthree\n  four\n  five\nsix\n","b":1})"}},
        {"- |\n a\n- >-\n b\n c\n", {R"(["a\n","b c"])"}},
        {"a: one\n  two\nb: \"x\n  y\"\n", {R"({"a":"one two","b":"x y"})"}},
        {"a: [1,\n  2]\n", {R"({"a":[1,2]})"}},
        {"? a\n: 1\n", {R"({"a":1})"}},
        {"yes: 1\n1: 2\n1.5: 3\n", {R"({"true":1,"1":2,"1.5":3})"}},
        {"a: &x {b: 1}\nc: *x\n", {R"({"a":{"b":1},"c":{"b":1}})"}},
        {"base: &b {x: 1, z: 2}\nd:\n  <<: *b\n  z: 3\n", {R"({"base":{"x":1,"z":2},"d":{"x":1,"z":3}})"}},
        {"a: &a {x: 1}\nb: &b {x: 2, z: 3}\nd: {<<: [*a, *b], w: 0}\n",
         {R"({"a":{"x":1},"b":{"x":2,"z":3},"d":{"x":1,"z":3,"w":0}})"}},
        {"{\"a\": [1, 1e3, \"\\ud83d\\ude00\"]}", {R"({"a":[1,1000,"😀"]})"}},
        {"d: {x: 1, <<: {x: 2}}\n", {R"({"d":{"x":2}})"}},
        {"{1e3: 1, 1e6: 2, 1.5: 3, 0x10: 4, 100000.5: 5, 1.0e-5: 6}",
         {R"({"1000":1,"1e+06":2,"1.5":3,"16":4,"100000.5":5,"1e-05":6})"}},
        {"{\"a\": 1}\n{\"b\": 2}[3]\n", {R"({"a":1})", R"({"b":2})", "[3]"}},
        {"{\"a\": 1}\n---\n{\"b\": 2}\n--- # c\nc: 3\n", {R"({"a":1})", R"({"b":2})", R"({"c":3})"}},
        {"{\"a\": 1}{\"b\": 2", {R"({"a":1})", "error at 15: expected ',' or '}', but the text ends here"}},
        {"{\"a\": 1,}", {R"({"a":1})"}},
        {"a: 1\n \nb: 2\n", {R"({"a":1,"b":2})"}},
        {"a:   \"x\"   # c\n'b':  'y'\n", {R"({"a":"x","b":"y"})"}},
        {"a: -1\nb:\n- \n", {R"({"a":-1,"b":[null]})"}},
        // A byte order mark at the beginning of a document: files that were put behind one another.
        {"\xEF\xBB\xBF"
         "a: 1\n---\n\xEF\xBB\xBF"
         "b: 2\nc: 3\n--- # d\n\xEF\xBB\xBF# e\nd: 4\n",
         {R"({"a":1})", R"({"b":2,"c":3})", R"({"d":4})"}},
        {"a: 1\r\n---\r\n\xEF\xBB\xBF"
         "b: 2\r\nc: 3\r\n",
         {R"({"a":1})", R"({"b":2,"c":3})"}},
        {"a: 1\n...\n---\n\xEF\xBB\xBF"
         "b: 2\nc: 3\n---\n\xEF\xBB\xBF{\"d\": 4}\n---\n\xEF\xBB\xBF---\ne: 5\nf: 6\n---\n\xEF\xBB\xBF",
         {R"({"a":1})", R"({"b":2,"c":3})", R"({"d":4})", R"({"e":5,"f":6})"}},
        {"{\"a\": 1}\n---\n\xEF\xBB\xBF{\"b\": 2}\n", {R"({"a":1})", R"({"b":2})"}},
    }));

struct Wrong {
  std::string yaml;
  std::uint32_t offset;
  std::string says;
};

class WrongText : public testing::TestWithParam<Wrong> {};

TEST_P(WrongText, is_an_error_at_its_place) {
  const Stream stream = parse(GetParam().yaml);
  ASSERT_TRUE(stream.failed) << json::to_json(stream.documents.at(0).root);
  EXPECT_EQ(stream.error.offset, GetParam().offset) << stream.error.message;
  EXPECT_THAT(stream.error.message, HasSubstr(GetParam().says));
}

INSTANTIATE_TEST_SUITE_P(yaml, WrongText,
                         testing::ValuesIn(std::vector<Wrong>{
                             {"a: 1\nb: 2\na: 3\n", 10, "duplicate key \"a\"; line 1 has it already"},
                             {"é: 1\nb: {x: 1, \"x\": 2}\n", 16, "duplicate key \"x\"; line 2 has it already"},
                             {"true: 1\nyes: 2\n", 8, "duplicate key \"true\""},
                             {"a: .inf\n", 3, "neither infinity nor NaN"},
                             {"a: .nan\n", 3, "neither infinity nor NaN"},
                             {"a: !!int x\n", 3, "!!int"},
                             {"a: !!binary aGVsbG8\n", 3, "take the tag out"},
                             {"~: 1\n", 0, "must not be null"},
                             {"? [a]\n: 1\n", 2, "a key must be a scalar"},
                             {"a: b: c\n", 4, "mapping values are not allowed"},
                             {"a:\n  - b\n c: 1\n", 10, ""},
                             {"\ta: 1\n", 0, "cannot start any token"},
                             {"a: 'x\n", 3, "unexpected end of stream"},
                             {"a: [1, 2\n", 8, "flow sequence"},
                             {"a: *nowhere\n", 3, "unknown anchor 'nowhere'"},
                             {"a: &x\n  b: *x\n", 11, "anchor 'x' contains itself"},
                             {"a: 1\n<<: 3\n", 9, "merge key"},
                             {"a: \x01\n", 3, "control characters are not allowed"},
                             {"a: \xFF\n", 3, "invalid leading UTF-8 octet"},
                             {"{\"a\": 1 \"b\": 2}", 8, "expected ',' or '}'"},
                             {"{\"a\": 1, \"a\": 2}", 9, "line 1 has it already"},
                             {"{\"a\": 1}\n\xEF\xBB\xBF{\"b\": 2}", 9, "another document"},
                             {"{\"a\": 1,}\n{\"b\": 2}", 8, "not '}'"},
                         }));

TEST(Yaml, documents_before_a_fault_are_read) {
  const Stream stream = parse("a: 1\n---\nb: [\n---\nc: 1\n");
  EXPECT_TRUE(stream.failed);
  ASSERT_EQ(stream.documents.size(), 1U);
  EXPECT_EQ(json::to_json(stream.documents[0].root), R"({"a":1})");
}

TEST(Yaml, offsets_count_from_the_beginning_of_the_stream) {
  const std::string text = "# é\na: ☸\n---\nb:\n  - c: \"x\"\n    d: [1, two]\n";
  for (const Cut cut : {Cut::at_documents, Cut::nowhere}) {
    Reader reader(text, {}, cut);
    json::Document document;
    ASSERT_TRUE(reader.next(document));
    EXPECT_EQ(document.root.find("a")->offset(), text.find("☸"));
    ASSERT_TRUE(reader.next(document));
    const json::Value& item = document.root.find("b")->items()[0];
    EXPECT_EQ(document.root.find("b")->offset(), text.find("- c"));
    EXPECT_EQ(item.offset(), text.find("c:"));
    EXPECT_EQ(item.find("c")->offset(), text.find("\"x\""));
    EXPECT_EQ(item.find("d")->items()[1].offset(), text.find("two"));
    EXPECT_EQ(item.find_member("d")->key_offset, text.find("d:"));
  }
}

TEST(Yaml, binary_text_of_many_lines_and_as_a_key_is_read) {
  EXPECT_EQ(read_all("a: !!binary |\n  aGVs\n  bG8=\n"), std::vector<std::string>{R"({"a":"hello"})"});
  EXPECT_EQ(read_all("? !!binary aGVsbG8=\n: 1\n"), std::vector<std::string>{R"({"hello":1})"});
}

TEST(Yaml, places_in_long_lines_are_counted_in_characters_from_the_line) {
  std::string text = "é\n";
  for (int i = 0; i < 5000; ++i) text += i % 7 == 0 ? "€" : "x";
  text += "\r\nlast";
  const Lines lines(text);
  for (std::uint32_t offset = 0; offset <= text.size() + 2; ++offset) {
    const Place one = locate(text, offset), other = lines.locate(offset);
    ASSERT_EQ(std::tuple(one.line, one.column, one.text, one.byte),
              std::tuple(other.line, other.column, other.text, other.byte))
        << offset;
  }
  EXPECT_EQ(lines.locate(static_cast<std::uint32_t>(text.find('\r'))).column, 5001U);
  EXPECT_EQ(Lines("").locate(0).line, 1U);
}

TEST(Yaml, a_billion_laughs_are_refused_at_once) {
  std::string text = "a0: &a0 [x, x, x, x, x, x, x, x, x, x]\n";
  for (int i = 1; i < 12; ++i) {
    const std::string before = "*a" + std::to_string(i - 1);
    text += "a" + std::to_string(i) + ": &a" + std::to_string(i) + " [";
    for (int k = 0; k < 9; ++k) text += before + ", ";
    text += before + "]\n";
  }
  const Stream stream = parse(text);
  EXPECT_TRUE(stream.failed);
  EXPECT_THAT(stream.error.message, HasSubstr("aliases stand for more than"));
}

TEST(Yaml, deep_nesting_is_an_error_and_no_stack_overflow) {
  std::string block;
  for (int i = 0; i < 600; ++i) block += std::string(static_cast<std::size_t>(i), ' ') + "a:\n";
  for (const std::string& text :
       {block, std::string(100'000, '['), "a: " + std::string(100'000, '['), std::string(2000, '-') + "\n", [] {
          std::string dashes;
          for (int i = 0; i < 20'000; ++i) dashes += "- ";
          return dashes;
        }()}) {
    const Stream stream = parse(text);
    if (text[0] == '-' && text[1] == '-') continue;  // a plain scalar
    EXPECT_TRUE(stream.failed);
    EXPECT_THAT(stream.error.message, HasSubstr("nested deeper than 512"));
  }
}

TEST(Locate, tells_lines_and_columns_in_characters) {
  const std::string text = "one\r\ntwo é x\n\nlast";
  const Lines lines(text);
  for (std::uint32_t offset = 0; offset <= text.size() + 2; ++offset) {
    const Place a = locate(text, offset);
    const Place b = lines.locate(offset);
    EXPECT_EQ(a.line, b.line) << offset;
    EXPECT_EQ(a.column, b.column) << offset;
    EXPECT_EQ(a.text, b.text) << offset;
  }
  const Place place = locate(text, static_cast<std::uint32_t>(text.find('x')));
  EXPECT_EQ(place.line, 2U);
  EXPECT_EQ(place.column, 7U);
  EXPECT_EQ(place.text, "two é x");
  EXPECT_EQ(locate(text, 3).text, "one");
  EXPECT_EQ(locate(text, 1000).line, 4U);
  EXPECT_EQ(locate("", 0).column, 1U);
}

}  // namespace
}  // namespace stackgate::yaml
