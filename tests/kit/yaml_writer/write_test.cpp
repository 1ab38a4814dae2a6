// What the writer writes, kubectl's reader (kit/yaml) reads back as the same tree; yaml-cpp's own reader, which follows
// YAML 1.2, takes every string for a string too.
#include "services/kit/yaml_writer/write.hpp"

#include <array>
#include <random>
#include <vector>

#include <gmock/gmock.h>
#include <yaml-cpp/yaml.h>

#include "services/kit/json/document.hpp"
#include "services/kit/json/parse.hpp"
#include "services/kit/json/write.hpp"
#include "services/kit/yaml/parse.hpp"

namespace stackgate::yaml {
namespace {

std::string written(std::string_view text) {
  json::Document document;
  const auto tree = json::parse(text, document);
  EXPECT_TRUE(tree) << text;
  return tree ? to_yaml(*tree) : std::string();
}

void expect_same(const json::Value& tree) {
  const std::string text = to_yaml(tree);
  for (const Cut cut : {Cut::at_documents, Cut::nowhere}) {
    Reader reader(text, {}, cut);
    json::Document document;
    ASSERT_TRUE(reader.next(document)) << reader.error().message << "\n" << text;
    EXPECT_TRUE(json::equal(document.root, tree)) << text << json::to_json(tree);
    EXPECT_FALSE(reader.next(document)) << text;
    EXPECT_FALSE(reader.failed()) << reader.error().message << "\n" << text;
  }
}

TEST(ToYaml, is_block_style_in_the_order_of_the_tree) {
  EXPECT_EQ(written(R"({"z":1,"a":{"list":["x",{"b":true,"c":null}],"none":{},"empty":[]},"count":2.5})"),
            "z: 1\na:\n  list:\n    - x\n    - b: true\n      c: null\n  none: {}\n  empty: []\ncount: 2.5\n");
}

TEST(ToYaml, quotes_what_some_reader_takes_for_something_else) {
  EXPECT_EQ(
      written(R"(["yes","NO","null","~","1","1e3","1:30","2001-01-01","","=","<<",".5",".inf"])"),
      "- \"yes\"\n- \"NO\"\n- \"null\"\n- \"~\"\n- \"1\"\n- \"1e3\"\n- \"1:30\"\n- \"2001-01-01\"\n- \"\"\n- \"=\"\n"
      "- \"<<\"\n- \".5\"\n- \".inf\"\n");
  EXPECT_EQ(written(R"([".status.state","/a b","http://a:1"])"), "- .status.state\n- /a b\n- http://a:1\n");
}

TEST(ToYaml, writes_lines_as_a_block) {
  EXPECT_EQ(written(R"({"hosts":"a slots=1\nb slots=1\n","next":1})"), "hosts: |\n  a slots=1\n  b slots=1\nnext: 1\n");
  EXPECT_EQ(written(R"({"cut":"a\nb"})"), "cut: \"a\\nb\"\n");  // a block would add a line feed
}

TEST(ToYaml, reads_back_as_the_same_tree) {
  for (
      const std::string_view text :
      {R"({"a":{"b":[1,2.5,true,null,"x"],"c":{},"d":[]},"e":"","f":[[1],[{"g":1,"h":[2]}],{}]})",
       R"(["yes","NO","null","~","1","1e3","0x1","-","- a","a: b","a:","#a","a #b"," a","a ","é","\u0001","\"","\\","y"])",
       R"({"host":"a-0.a slots=1\na-1.a slots=1\n","cut":"a\nb","odd":"a\n\nb","lead":"\na","tab":"a\tb\n","space":" a\nb"})",
       R"({"on":1,"a b":2,"":3,"1":4,"a:b":{"x/y":"z"},"true":{"n":"n"}})", R"("text")", "{}", "[]", "12",
       R"(["a\u0085b","a\u2028b","a\u2029b","\ufeffa","a\u007fb","\ud83d\ude00","a\u0000b"])", R"("a\nb\n")",
       R"({"a\nb\n":1,"\n":2,"- a":3,"? a":4,"%a":5,"---":6,"--- a":7,"...":8,"@a":9,"`a":10,"!a":11,"&a":12,"*a":13})",
       R"([-1,0,-0.5,1e300,9223372036854775807,1.0e-7])"}) {
    json::Document document;
    const auto tree = json::parse(text, document);
    ASSERT_TRUE(tree) << text;
    expect_same(*tree);
  }
}

TEST(ToYaml, reads_back_keys_of_any_length) {
  for (const std::size_t length : {1000U, 1024U, 1025U, 5000U}) {
    json::Document document;
    const std::string text = "{\"" + std::string(length, 'k') + "\":{\"a\":1}}";
    expect_same(*json::parse(text, document));
  }
}

/// Random trees out of the pieces that readers disagree about.
class RandomTree {
 public:
  explicit RandomTree(unsigned seed) : random_(seed) {}

  std::string json() {
    std::string out;
    json::Writer writer(out);
    writer.object([&] {
      writer.key("tree");
      value(writer, 0);
    });
    return out;
  }

 private:
  std::size_t below(std::size_t count) { return random_() % count; }

  std::string text() {
    static constexpr std::array<std::string_view, 40> pieces{
        "a", "yes", "null", "1", "0x1", "e3", ".",  "-",  "+", ":",    ": ",       " ",           "  ", "\n",
        "#", " #",  "\"",   "'", "\\",  "|",  ">",  "&",  "*", "!",    "%",        "@",           "`",  "{",
        "}", "[",   "]",    ",", "?",   "~",  "\t", "\r", "é", "\x7f", "\xc2\x85", "\xe2\x80\xa8"};
    std::string out;
    for (std::size_t i = below(6); i > 0; --i) out += pieces[below(pieces.size())];
    if (below(4) == 0) out += '\n';
    return out;
  }

  void value(json::Writer& writer, std::size_t depth) {
    switch (below(depth > 4 ? 4 : 7)) {
      case 0:
        return writer.value(below(2) == 0);
      case 1:
        return writer.value(nullptr);
      case 2:
        return below(2) == 0 ? writer.value(static_cast<std::int64_t>(random_()) - 2'000'000'000)
                             : writer.value(static_cast<double>(below(1000)) / 8 - 20);
      case 3:
      case 4:
        return writer.value(text());
      case 5:
        return writer.array([&] {
          for (std::size_t i = below(4); i > 0; --i) value(writer, depth + 1);
        });
      default:
        return writer.object([&] {
          for (std::size_t i = below(4); i > 0; --i) {
            writer.key(text() + std::to_string(i));  // no key twice
            value(writer, depth + 1);
          }
        });
    }
  }

  std::mt19937 random_;
};

TEST(ToYaml, reads_back_as_the_same_random_tree) {
  for (unsigned seed = 0; seed < 4000 && !HasFailure(); ++seed) {
    const std::string text = RandomTree(seed).json();
    json::Document document;
    const auto tree = json::parse(text, document);
    ASSERT_TRUE(tree) << text;
    expect_same(*tree);
  }
}

TEST(ToYaml, is_read_by_another_library_as_strings_where_they_are_strings) {
  for (const std::string_view each : {"yes", "1", "0o7", "1e3", "true", "null", "~", "a: b", "#a", "a\nb\n", ".5"}) {
    std::string text;
    json::append_quoted(text, each);
    const YAML::Node node = YAML::Load(written("[" + text + "]"))[0];
    EXPECT_EQ(node.Scalar(), each);
    EXPECT_EQ(node.Tag(), "!") << each << ": plain";
  }
}

}  // namespace
}  // namespace stackgate::yaml
