#include <fmt/format.h>
#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

#include "services/inference/constrain/integer_range.hpp"
#include "services/inference/constrain/schema_compiler.hpp"
#include "services/kit/json/parse.hpp"
#include "services/kit/json_schema/json_schema.hpp"
#include "tests/inference/constrain/walks.hpp"

namespace stackgate::inference {
namespace {

auto compiled(std::string_view schema) {
  json::Document document;
  const auto root = json::parse(schema, document);
  EXPECT_TRUE(root.has_value()) << schema;
  return compile_schema(root.value_or(json::Value{}), "schema");
}

std::string refused(std::string_view schema) {
  const auto got = compiled(schema);
  if (got) return "";
  std::string out;
  for (const auto& each : got.error()) out += each.path + ": " + each.problem + "\n";
  return out;
}

bool takes(const std::shared_ptr<const Grammar>& grammar, std::string_view text) {
  Automaton automaton(grammar);
  return automaton.complete(automaton.run(automaton.start(), text));
}

TEST(JsonGrammar, takes_json_objects) {
  const auto grammar = json_object_grammar();
  for (const char* text :
       {"{}", " {}", "{\n}", R"({"a":1})", R"({"a": [1, -2.5e+10, true, null, "x\"\\\/\b\u00e4\ud83d\ude00é€😀"]})",
        "{\n  \"a\": {},\n  \"b\": []\n}", R"({"":[[[]]]})"})
    EXPECT_TRUE(takes(grammar, text)) << text;
  for (const char* text : {"",
                           "{",
                           "[]",
                           "1",
                           "{}}",
                           "{} ",
                           "{a:1}",
                           R"({"a":01})",
                           R"({"a":1.})",
                           R"({"a":+1})",
                           R"({"a":1,})",
                           R"({"a" :1})",
                           "{\"a\":\"\t\"}",
                           R"({"a":"\x"})",
                           R"({"a":"\ud83d"})",
                           R"({"a":"\ude00"})",
                           R"({"a":nul})",
                           "{\"a\":\"\xC0\x80\"}",
                           "{\"a\":\"\xED\xA0\x80\"}",
                           "{\"a\":\"\xE2\x82\"}",
                           R"({"a":1234567890123456})",
                           R"({"a":1e100})"})
    EXPECT_FALSE(takes(grammar, text)) << text;
}

TEST(JsonGrammar, nests_as_deep_as_it_says) {
  const auto nested = [](int depth) {
    return "{\"a\":" + std::string(static_cast<std::size_t>(depth), '[') +
           std::string(static_cast<std::size_t>(depth), ']') + "}";
  };
  EXPECT_TRUE(takes(json_object_grammar(), nested(30)));
  EXPECT_FALSE(takes(json_object_grammar(), nested(33)));
}

TEST(JsonGrammar, random_walks_parse) {
  testing::Dice dice(41);
  for (int i = 0; i < 300; ++i) {
    const auto text = test::walk(json_object_grammar(), dice, 40 + dice.roll(400));
    ASSERT_TRUE(text.has_value());
    const auto value = nlohmann::json::parse(*text, nullptr, false);  // names may repeat
    EXPECT_TRUE(value.is_object()) << *text;
  }
}

TEST(Mask, is_what_reading_each_token_says) {
  testing::Dice dice(42);
  const auto& vocabulary = test::small_vocabulary();
  for (int i = 0; i < 60; ++i) {
    Constraint constraint(json_object_grammar(), vocabulary.trie, {vocabulary.end});
    Automaton automaton(json_object_grammar());
    std::string text;
    for (int step = 0; step < 40; ++step) {
      const TokenMask mask = constraint.allowed();
      std::vector<TokenId> possible;
      for (TokenId id = 0; id < vocabulary.end; ++id) {
        const bool reads = automaton.run(automaton.start(), text + vocabulary.texts[id]) != Automaton::dead;
        ASSERT_EQ(test::is_allowed(mask, id), reads) << text << " then " << vocabulary.texts[id];
        if (reads) possible.push_back(id);
      }
      EXPECT_EQ(test::is_allowed(mask, vocabulary.end), takes(json_object_grammar(), text));
      if (possible.empty()) break;
      const TokenId id = dice.pick(possible);
      ASSERT_TRUE(constraint.accept(id));
      text += vocabulary.texts[id];
    }
  }
}

TEST(Constraint, tells_when_it_is_complete) {
  const auto& vocabulary = test::small_vocabulary();
  Constraint constraint(json_object_grammar(), vocabulary.trie, {vocabulary.end});
  EXPECT_FALSE(constraint.accept('x'));
  EXPECT_FALSE(constraint.accept(vocabulary.end));
  EXPECT_FALSE(constraint.accept(70'000));
  EXPECT_TRUE(constraint.accept('{'));
  EXPECT_FALSE(constraint.complete());
  EXPECT_TRUE(constraint.accept('}'));
  EXPECT_TRUE(constraint.complete());
  EXPECT_TRUE(constraint.finished());
  EXPECT_TRUE(test::is_allowed(constraint.allowed(), vocabulary.end));
  EXPECT_TRUE(constraint.accept(vocabulary.end));
}

const std::vector<std::string>& schemas() {
  static const std::vector<std::string> made = {
      R"({"type":"object","properties":{"a":{"type":"integer"},"b":{"type":"string"},"c":{"type":["boolean","null"]}},"required":["a"],"additionalProperties":false})",
      R"({"type":"object","properties":{"a":{"type":"number"},"b":{}},"required":["b","x"]})",
      R"({"type":"object","additionalProperties":false})",
      R"({"type":"array","items":{"type":"integer","minimum":-12,"exclusiveMaximum":305},"minItems":2,"maxItems":5})",
      R"({"type":"array","items":{"type":"string","minLength":1,"maxLength":3},"minItems":1})",
      R"({"type":"string","minLength":2})",
      R"({"enum":["red","reed","r",1,null,{"a":[1.5]}]})",
      R"({"type":"string","enum":["x",7,"y\"\n"]})",
      R"({"const":{"k":"v"}})",
      R"({"anyOf":[{"type":"string","maxLength":2},{"type":"object","properties":{"t":{"const":1}},"required":["t"]},{"type":"null"}],"title":"T","default":null})",
      R"({"oneOf":[{"type":"integer"},{"type":"string"}]})",
      R"({"oneOf":[{"$ref":"#/$defs/cat"},{"$ref":"#/$defs/dog"}],"$defs":{
          "cat":{"type":"object","properties":{"kind":{"const":"cat"},"lives":{"type":"integer","minimum":0,"maximum":9}},"required":["kind","lives"]},
          "dog":{"type":"object","properties":{"kind":{"const":"dog"}},"required":["kind"]}}})",
      R"({"$ref":"#/definitions/tree","definitions":{"tree":{"type":"object","properties":{"v":{"type":"integer"},
          "children":{"type":"array","items":{"$ref":"#/definitions/tree"}}},"required":["v","children"],"additionalProperties":false}}})",
      R"({"type":"object","properties":{"next":{"anyOf":[{"$ref":"#"},{"type":"null"}]}},"required":["next"],"additionalProperties":false})",
      R"({"allOf":[{"type":"boolean"}]})",
      R"({"type":"array","items":{"anyOf":[{"type":"integer","minimum":1000,"maximum":1000},{"type":"boolean"}]},"minItems":3})",
      R"({"type":"object","properties":{"é\"/":{"type":"string"}},"required":["é\"/"]})",
  };
  return made;
}

TEST(Schema, random_walks_parse_and_validate) {
  testing::Dice dice(43);
  for (const std::string& schema : schemas()) {
    const auto grammar = compiled(schema);
    ASSERT_TRUE(grammar.has_value()) << schema << '\n' << refused(schema);
    const auto judge = validate::JsonSchema::compile(schema, validate::Draft::v7);
    ASSERT_TRUE(judge.has_value()) << judge.error();
    for (int i = 0; i < 60; ++i) {
      const auto text = test::walk(*grammar, dice, dice.roll(300));
      ASSERT_TRUE(text.has_value()) << schema;
      json::Document document;
      const auto root = json::parse(*text, document);
      if (!root && root.error().message.starts_with("duplicate key")) continue;  // of free objects
      ASSERT_TRUE(root.has_value()) << *text << ": " << root.error().message;
      for (const auto& fault : judge->check(*root)) ADD_FAILURE() << schema << '\n' << *text << '\n' << fault.problem;
    }
  }
}

struct Taken {
  std::string_view schema, yes, no;
};

TEST(Schema, takes_all_that_it_should) {
  for (const auto& [schema, yes, no] : std::initializer_list<Taken>{
           {R"({"properties":{"a":{},"b":{}}})", R"({})", R"([])"},
           {R"({"properties":{"a":{},"b":{}}})", R"({"b": 1})", R"({"b":1,"a":1})"},
           {R"({"properties":{"a":{},"b":{}},"required":["b"]})", R"({"a":[],"b":"x"})", R"({"a":[]})"},
           {R"({"type":"object","additionalProperties":{"type":"integer"}})", R"({"x":1,"y":2})", R"({"x":""})"},
           {R"({"type":"string","minLength":1,"maxLength":2})", "\"é\\ud83d\\ude00\"", "\"abc\""},
           {R"({"type":"array","maxItems":1})", "[{}]", "[1,2]"},
           {R"({"type":"array","maxItems":0})", "[ ]", "[1]"},
           {R"({"type":"integer"})", "-0", "1.0"},
           {R"({"type":"number"})", "-1.5e-9", "1.5.5"},
           {"true", R"({"any":[1]})", "{"},
           {R"({"type":"string","enum":["a",1]})", "\"a\"", "1"},
       }) {
    const auto grammar = compiled(schema);
    ASSERT_TRUE(grammar.has_value()) << schema;
    EXPECT_TRUE(takes(*grammar, yes)) << schema << yes;
    EXPECT_FALSE(takes(*grammar, no)) << schema << no;
  }
}

TEST(Schema, integers_between_bounds) {
  testing::Dice dice(44);
  for (int i = 0; i < 300; ++i) {
    const auto drawn = [&dice] { return static_cast<std::int64_t>(dice.roll(2500)) - 1250; };
    std::int64_t least = drawn(), most = drawn();
    if (least > most) std::swap(least, most);
    GrammarBuilder builder;
    const RuleId rule = builder.rule();
    builder.grammar().start = rule;
    add_integers(builder, builder.at(rule).start, least, most, builder.at(rule).end);
    measure(builder.grammar());
    const auto grammar = std::make_shared<const Grammar>(std::move(builder.grammar()));
    for (const std::int64_t near : {least - 1, least, most, most + 1, drawn(), std::int64_t{0}})
      EXPECT_EQ(takes(grammar, std::to_string(near)), near >= least && near <= most)
          << near << " in " << least << " " << most;
    EXPECT_FALSE(takes(grammar, "-0") || takes(grammar, "00") || takes(grammar, "01"));
  }
}

TEST(Schema, what_is_not_served_is_refused_by_its_place) {
  for (const auto& [schema, expected, unused] : std::initializer_list<Taken>{
           {R"({"properties":{"a":{"type":"string","pattern":"x"}}})", "schema.properties.a.pattern: is not served\n",
            ""},
           {R"({"type":"array","items":{"multipleOf":2}})", "schema.items.multipleOf: is not served\n", ""},
           {R"({"type":"array","items":[{}]})", "schema.items: is a list\n", ""},
           {R"({"not":{}})", "schema.not: is not served\n", ""},
           {R"({"anyOf":[{}],"type":"string"})", "schema.type: stands beside \"anyOf\"\n", ""},
           {R"({"anyOf":[]})", "schema.anyOf: must be a list that is not empty\n", ""},
           {R"({"oneOf":[{"type":"integer"},{"type":"number"}]})",
            "schema.oneOf: has alternatives that one value may fulfil together\n", ""},
           {R"({"allOf":[{},{}]})", "schema.allOf: has more than one schema\n", ""},
           {R"({"$ref":"#/x"})", "schema.$ref: names nothing in this schema\n", ""},
           {R"({"$ref":"http://x"})", "schema.$ref: names nothing in this schema\n", ""},
           {R"({"$ref":"#"})", ": is fulfilled by no value that ends\n", ""},
           {R"({"anyOf":[{"$ref":"#"},{"type":"null"}]})", ": is fulfilled by no value that ends\n", ""},
           {R"({"type":"object","properties":{"a":{"$ref":"#"}},"required":["a"]})",
            ": is fulfilled by no value that ends\n", ""},
           {R"({"type":"number","minimum":1})", "schema.minimum: is served for integers only\n", ""},
           {R"({"type":"integer","minimum":3,"maximum":2})", "schema: has bounds between which no integer lies\n", ""},
           {R"({"type":"string","minLength":3,"maxLength":2})", "schema.maxLength: is less than \"minLength\"\n", ""},
           {R"({"type":"text"})", "schema.type: must be one of null, boolean, integer, number, string, array, object\n",
            ""},
           {R"({"type":"string","enum":[1]})", "schema.enum: has no value of the schema's \"type\"\n", ""},
           {R"({"required":["a"],"additionalProperties":false})",
            "schema.required: names a property that is none of \"properties\"\n", ""},
           {"false", "schema: is fulfilled by no value\n", ""},
           {"1", "schema: must be a schema\n", ""},
           {R"({"properties":{"a":7}})", "schema.properties.a: must be a schema\n", ""},
       })
    EXPECT_EQ(refused(schema), expected) << schema;
  EXPECT_EQ(refused(R"({"uniqueItems":false,"title":"x","format":"date","description":"d"})"), "");
}

TEST(Schema, large_ones_are_bounded) {
  std::string chain = R"({"$ref":"#/$defs/d0","$defs":{)";
  for (int i = 0; i < 30'000; ++i)
    chain += fmt::format(R"({}"d{}":{{"$ref":"#/$defs/d{}"}})", i == 0 ? "" : ",", i, i + 1);
  EXPECT_NE(refused(chain + R"(,"d30000":{}}})"), "");
  std::string values = R"({"enum":["a")";
  for (int i = 0; i < 30'000; ++i) values += fmt::format(R"(,"value {}")", i);
  const auto grammar = compiled(values + "]}");
  ASSERT_TRUE(grammar.has_value());
  EXPECT_TRUE(takes(*grammar, "\"value 29999\""));
}

}  // namespace
}  // namespace stackgate::inference
