#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "services/guardrail/actions/literal.hpp"
#include "services/guardrail/actions/search.hpp"
#include "services/guardrail/colang/compile.hpp"
#include "tests/guardrail/actions/acting.hpp"

namespace stackgate::guardrail {
namespace {

using test::Acting;
using test::says;
using test::text_value;
using testing::AllOf;
using testing::HasSubstr;
using testing::Not;

void add_intents(Acting& acting) {
  acting.configuration->program.user_intents = {
      {.name = "express greeting", .examples = {"hello there", "good morning"}},
      {.name = "ask about prices", .examples = {"what does it cost", "how much is a ticket"}},
      {.name = "say goodbye", .examples = {"bye", "see you"}}};
}

TEST(UserIntent, is_asked_with_the_nearest_examples) {
  Acting acting([](auto&, auto&, int) { return says("User intent: ask about prices"); });
  add_intents(acting);
  const auto result = acting.run("generate_user_intent", {{"user_message", text_value("how much does a ticket cost")},
                                                          {"last_user_intent", text_value("of an earlier turn")}});
  ASSERT_FALSE(result.failed) << result.error;
  EXPECT_EQ(result.value.bytes(), "ask about prices");
  EXPECT_EQ(result.context_updates.at("last_user_intent").bytes(), "ask about prices");
  EXPECT_THAT(acting.upstream.asked()[0].body,
              AllOf(HasSubstr("how much is a ticket"), HasSubstr("ask about prices"),
                    HasSubstr(R"("temperature":0.001)"), Not(HasSubstr("of an earlier turn"))));
}

TEST(UserIntent, embeddings_alone_ask_no_model) {
  Acting acting([](auto&, auto&, int) { return says("User intent: from the model"); });
  add_intents(acting);
  acting.configuration->dialog.embeddings_only = true;
  const auto intent_of = [&](std::string_view text) {
    const auto result = acting.run("generate_user_intent", {{"user_message", text_value(text)}});
    return std::string(result.value.bytes());
  };
  EXPECT_EQ(intent_of("good morning"), "express greeting");
  EXPECT_EQ(acting.upstream.count(), 0U);
  acting.configuration->dialog.embeddings_only_threshold = 0.9;
  EXPECT_EQ(intent_of("zebra quux"), "from the model");
  acting.configuration->dialog.embeddings_only_fallback_intent = "something else";
  EXPECT_EQ(intent_of("zebra quux"), "something else");
  EXPECT_EQ(acting.upstream.count(), 1U);
}

TEST(UserIntent, by_the_embedding_model_whose_index_is_made_once) {
  Acting acting([](auto&, const test::Asked& asked, int) -> web::Answer {
    if (asked.path != "/v1/embeddings") return says("User intent: ask about prices");
    // One dimension for what is about money, one for the rest.
    std::string data;
    const auto begin = asked.body.find("\"input\":[") + 9;
    std::string_view rest = std::string_view(asked.body).substr(begin);
    int index = 0;
    for (auto at = rest.find('"'); at != std::string_view::npos; at = rest.find('"')) {
      const auto end = rest.find('"', at + 1);
      const std::string_view text = rest.substr(at + 1, end - at - 1);
      const bool money = text.contains("cost") || text.contains("much") || text.contains("money");
      data += std::string(data.empty() ? "" : ",") + R"({"index":)" + std::to_string(index++) + R"(,"embedding":)" +
              (money ? "[1,0]}" : "[0,1]}");
      rest.remove_prefix(end + 1);
    }
    return test::json_reply(200, R"({"data":[)" + data + "]}");
  });
  add_intents(acting);
  acting.configuration->dialog.embeddings_only = true;
  acting.configuration->models.push_back({.type = "embeddings", .engine = "nim", .model = "e"});
  for (int i = 0; i < 2; ++i) {
    const auto result = acting.run("generate_user_intent", {{"user_message", text_value("money")}});
    ASSERT_FALSE(result.failed) << result.error;
    EXPECT_EQ(result.value.bytes(), "ask about prices");
  }
  EXPECT_EQ(acting.upstream.count(), 3U) << "the examples once, and each message";
}

TEST(UserIntent, an_answer_that_names_none_fails) {
  for (const std::string_view answer : {"", "say \\\"this\\\" or that"}) {
    Acting acting([&](auto&, auto&, int) { return says(std::string(answer)); });
    add_intents(acting);
    EXPECT_TRUE(acting.run("generate_user_intent", {{"user_message", text_value("hi")}}).failed) << answer;
  }
}

TEST(NextStep, and_message_and_value) {
  Acting acting([](auto&, const test::Asked& asked, int) {
    if (asked.body.contains("What does the bot do next")) return says("Bot intent: inform prices");
    if (asked.body.contains("Find the value of the variable")) return says("12.5");
    return says(R"(Bot message: \"It costs 12.\")");
  });
  const Variables context{{"user_message", text_value("how much")},
                          {"last_user_intent", text_value("ask about prices")}};
  EXPECT_EQ(acting.run("generate_next_step", context).value.bytes(), "inform prices");
  const auto message = acting.run("generate_bot_message", context, {{"intent", text_value("inform prices")}});
  EXPECT_EQ(message.value.bytes(), "It costs 12.");
  EXPECT_THAT(acting.upstream.asked()[1].body, AllOf(HasSubstr("inform prices"), HasSubstr("ask about prices")));
  const auto value =
      acting.run("generate_value", context, {{"name", text_value("price")}, {"instructions", text_value("in euro")}});
  ASSERT_NE(value.value.real(), nullptr);
  EXPECT_EQ(*value.value.real(), 12.5);
  EXPECT_THAT(acting.upstream.asked()[2].body, AllOf(HasSubstr("`price`"), HasSubstr("in euro")));
}

TEST(SingleCall, is_asked_with_examples_that_go_on) {
  Acting acting([](auto&, auto&, int) {
    return says(R"(User intent: ask price\nBot intent: inform price\nBot message: \"It is 3.\")");
  });
  auto compiled = colang::compile(std::vector<colang::Source>{
      {.name = "rails.co",
       .text = "define user ask price\n  \"how much is it\"\n\ndefine user thank\n  \"much obliged\"\n\n"
               "define bot inform price\n  \"It costs much.\"\n\n"
               "define flow\n  user ask price\n  bot inform price\n"}});
  acting.configuration->program = std::move(compiled.program);
  const auto result = acting.run("generate_intent_steps_message", {{"user_message", text_value("how much")}});
  ASSERT_FALSE(result.failed) << result.error;
  EXPECT_EQ(test::member(result, "user_intent").bytes(), "ask price");
  EXPECT_EQ(test::member(result, "bot_intent").bytes(), "inform price");
  EXPECT_EQ(test::member(result, "bot_message").bytes(), "It is 3.");
  EXPECT_EQ(result.context_updates.at("last_user_intent").bytes(), "ask price");
  EXPECT_THAT(acting.upstream.asked()[0].body,
              AllOf(HasSubstr("how much is it"), HasSubstr("It costs much."), HasSubstr("thank"),
                    Not(HasSubstr("obliged")), HasSubstr(R"("temperature":0.001)")));
}

TEST(SingleCall, that_names_no_intent_says_so) {
  Acting acting([](auto&, auto&, int) { return says(R"(say \"this\")"); });
  add_intents(acting);
  const auto result = acting.run("generate_intent_steps_message", {{"user_message", text_value("hi")}});
  EXPECT_FALSE(result.failed);
  EXPECT_EQ(test::member(result, "user_intent").bytes(), "");
  EXPECT_TRUE(result.context_updates.empty());
}

TEST(NextStep, may_be_several) {
  Acting acting([](auto&, auto&, int) {
    return says(R"(Bot intent: inform price\nUser intent: thank\nexecute pay\nBot intent: leave)");
  });
  const auto one = acting.run("generate_next_step");
  EXPECT_EQ(one.value.bytes(), "inform price");
  acting.configuration->multi_step_generation = true;
  const auto many = acting.run("generate_next_step");
  ASSERT_NE(many.value.list(), nullptr);
  ASSERT_EQ((*many.value.list())->items.size(), 2U);
  EXPECT_EQ((*many.value.list())->items[0].bytes(), "bot inform price");
  EXPECT_EQ((*many.value.list())->items[1].bytes(), "user thank");
  EXPECT_THAT(acting.upstream.asked()[0].body, HasSubstr("in one line"));
  EXPECT_THAT(acting.upstream.asked()[1].body, HasSubstr("a line for each step"));
}

TEST(RelevantChunks, are_those_that_share_words) {
  Acting acting([](auto&, auto&, int) { return says("x"); });
  acting.configuration->knowledge = {
      {"kb/prices.md",
       "# Prices\n\nA ticket costs twelve euro.\n\n# Opening hours\n\nDoors open at nine every morning.\n"}};
  const auto result = acting.run("retrieve_relevant_chunks", {{"user_message", text_value("what does a ticket cost")}});
  ASSERT_FALSE(result.failed) << result.error;
  EXPECT_THAT(std::string(result.value.bytes()), HasSubstr("twelve euro"));
  const auto none = acting.run("retrieve_relevant_chunks", {{"user_message", text_value("zzz")}});
  EXPECT_THAT(std::string(none.value.bytes()), Not(HasSubstr("nine")));
  EXPECT_EQ(acting.upstream.count(), 0U);
}

TEST(SearchIndexes, forget_configurations_that_have_gone) {
  SearchIndexes indexes;
  auto first = std::make_shared<Configuration>();
  const auto index = std::make_shared<const SearchIndex>(SearchIndex{.entries = {}, .vectors = VectorIndex(1)});
  indexes.keep(first, Searched::examples, index);
  EXPECT_EQ(indexes.find(first, Searched::examples), index);
  EXPECT_EQ(indexes.find(first, Searched::chunks), nullptr);
  first.reset();
  const auto second = std::make_shared<Configuration>();
  EXPECT_EQ(indexes.find(second, Searched::examples), nullptr);
  indexes.keep(second, Searched::chunks, index);
  EXPECT_EQ(index.use_count(), 2) << "the first one's is gone";
}

TEST(ReadLiteral, is_data) {
  EXPECT_EQ(*read_literal(" True ").boolean(), true);
  EXPECT_EQ(*read_literal("false").boolean(), false);
  EXPECT_TRUE(read_literal("None").is_none());
  EXPECT_EQ(*read_literal("-12").integer(), -12);
  EXPECT_EQ(read_literal("\"a \\\"b\\\"\"").bytes(), "a \"b\"");
  EXPECT_EQ(read_literal("'it'").bytes(), "it");
  EXPECT_EQ(read_literal("{{ secret }}").bytes(), "{{ secret }}");
  EXPECT_EQ(read_literal("plain words").bytes(), "plain words");
  ASSERT_NE(read_literal("[1, {\"a\": null}]").list(), nullptr);
  EXPECT_EQ((*read_literal("[1, {\"a\": null}]").list())->items.size(), 2U);
}

}  // namespace
}  // namespace stackgate::guardrail
