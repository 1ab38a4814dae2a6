#include "services/kit/jinja/to_json.hpp"

#include <limits>
#include <string>

#include <gtest/gtest.h>

#include "services/kit/jinja/from_value.hpp"
#include "services/kit/json/parse.hpp"

namespace stackgate::jinja {
namespace {

TEST(ValueToJson, is_what_json_to_value_read) {
  for (const char* text : {"null", "true", "-7", "0.5", "\"a\\\"b\\n\"", "[]", "{}", R"([1,[2,{"a":null}],"é"])",
                           R"({"b":1,"a":{"c":[false]}})"}) {
    json::Document document;
    const auto root = json::parse(text, document);
    ASSERT_TRUE(root.has_value()) << text;
    EXPECT_EQ(to_json(from_json(*root).value()), text);
  }
}

TEST(ValueToJson, what_json_does_not_have_is_null) {
  EXPECT_EQ(to_json(Value()), "null");
  EXPECT_EQ(to_json(Value(std::numeric_limits<double>::infinity())), "null");
  EXPECT_EQ(to_json(Value(std::numeric_limits<double>::quiet_NaN())), "null");
}

TEST(ValueToJson, keys_are_texts_and_unique) {
  auto dict = std::make_shared<Dict>();
  dict->set(Value(std::int64_t{1}), Value("number"));
  dict->set(Value(true), Value("flag"));  // Python's 1 == True: the same key
  dict->set(Value("1"), Value("text"));
  dict->set(Value(None{}), Value("none"));
  EXPECT_EQ(to_json(Value(DictPtr(dict))), R"({"1":"text","null":"none"})");
}

TEST(ValueToJson, shared_parts_do_not_explode) {
  Value value("x");
  for (int i = 0; i < 90; ++i) value = Value(std::make_shared<const List>(std::vector<Value>{value, value}));
  EXPECT_EQ(to_json(value), "null");
  Value deep("x");
  for (int i = 0; i < 101; ++i) deep = Value(std::make_shared<const List>(std::vector<Value>{deep}));
  EXPECT_EQ(to_json(deep), "null");
  EXPECT_EQ(to_json((*deep.list())->items[0]).substr(0, 3), "[[[");
}

}  // namespace
}  // namespace stackgate::jinja
