#include "services/kit/json/write.hpp"

#include <limits>

#include <gtest/gtest.h>

#include "services/kit/json/parse.hpp"

namespace stackgate::json {
namespace {

TEST(Writer, writes_nested_objects_and_lists) {
  std::string out;
  Writer w(out);
  w.object([&] {
    w.member("uid", "a\"b");
    w.key("status");
    w.object([&] {
      w.member("code", 422);
      w.member("ok", false);
      w.key("causes");
      w.array([&] {
        w.value(1);
        w.object([] {});
        w.array([] {});
        w.value(nullptr);
        w.raw(R"({"x":1})");
        w.value(1.5);
        w.value(std::numeric_limits<std::uint64_t>::max());
        w.value(std::numeric_limits<std::int64_t>::min());
      });
    });
    w.member("last", std::string("z"));
  });
  EXPECT_EQ(out, R"({"uid":"a\"b","status":{"code":422,"ok":false,"causes":[1,{},[],null,{"x":1},1.5,)"
                 R"(18446744073709551615,-9223372036854775808]},"last":"z"})");
}

TEST(Writer, escapes_what_must_be_and_repairs_bytes_that_are_not_utf8) {
  std::string out;
  append_quoted(out, std::string_view("tab\t nul\0 \x1f \x7f é \xFF\xC3 end\xE2\x82", 25));
  EXPECT_EQ(out, "\"tab\\t nul\\u0000 \\u001f \x7f é \xEF\xBF\xBD\xEF\xBF\xBD end\xEF\xBF\xBD\xEF\xBF\xBD\"");
}

TEST(Writer, has_no_word_for_infinity) {
  std::string out;
  Writer(out).value(std::numeric_limits<double>::infinity());
  EXPECT_EQ(out, "null");
}

TEST(Writer, what_it_writes_is_read_back_the_same) {
  const std::string text = R"({"a":[1,-2.25,1e+300,"\u0001\\",true,null,{"b":{}}],"é":"😀"})";
  Document first;
  Document second;
  const Value tree = *parse(text, first);
  const std::string again = to_json(tree);
  EXPECT_TRUE(equal(tree, *parse(again, second)));
}

// Text is escaped piece by piece: nothing may be lost, doubled or torn where one ends.
TEST(Writer, texts_of_every_length_are_read_back_the_same) {
  for (const std::string_view special : {"\"", "\\", "\n", "é", "€", "😀", "\x7f"})
    for (const std::size_t length :
         {0U, 1U, 7U, 8U, 15U, 16U, 17U, 251U, 252U, 253U, 254U, 255U, 256U, 257U, 511U, 512U})
      for (const std::size_t behind : {0U, 1U, 300U}) {
        const std::string text = std::string(length, 'x') + std::string(special) + std::string(behind, 'y');
        std::string out;
        append_quoted(out, text);
        Document document;
        const auto read = parse(out, document);
        ASSERT_TRUE(read) << out;
        EXPECT_EQ(read->string(), text);
      }
}

}  // namespace
}  // namespace stackgate::json
