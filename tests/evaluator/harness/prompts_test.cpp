#include "services/evaluator/suite/harness/prompts.hpp"

#include <gmock/gmock.h>

#include "services/kit/jinja/from_value.hpp"
#include "services/kit/json/parse.hpp"

namespace stackgate::evaluator::harness {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;

jinja::Value row_of(std::string_view text) {
  json::Document document;
  return jinja::from_json(json::parse(text, document).value()).value();
}

Source text(std::string_view source) { return {.kind = Source::Kind::text, .text = std::string(source)}; }

Columns columns() { return {"question", "answer", "options", "label"}; }

RowTemplate compiled(const Source& source) { return RowTemplate::compile(source, columns()).value(); }

constexpr std::string_view sum_row = R"({"question":"2+2?","answer":["4","four"],"options":["3","4"],"label":1})";

TEST(Templates, are_columns_or_jinja_as_the_harness_sets_it_up) {
  const jinja::Value value = row_of(sum_row);
  const auto rendered = [&](std::string_view source) { return python_text(compiled(text(source)).of(value).value()); };
  EXPECT_EQ(rendered("question"), "2+2?");
  EXPECT_EQ(rendered("Q: {{question}}\n"), "Q: 2+2?\n");             // the last line end is kept
  EXPECT_EQ(rendered("{% if label %}\n x\n{% endif %}"), "\n x\n");  // no block is trimmed
  EXPECT_EQ(rendered("{{answer}}"), "['4', 'four']");
  EXPECT_EQ(rendered(R"({{question|regex_replace('[0-9]', 'n')}})"), "n+n?");
  EXPECT_EQ(rendered(R"({{question|regex_replace('([0-9])', '<\\1>', count=1)}})"), "<2>+2?");
  EXPECT_THAT(compiled(text("{{nothing}}")).of(value).error(), HasSubstr("nothing"));
  EXPECT_FALSE(RowTemplate::compile(text("{{ question"), columns()));
  EXPECT_FALSE(RowTemplate::compile(text("{{ question|unknown_filter }}"), columns()));
  EXPECT_THAT(compiled(text("question")).of(row_of("{}")).error(), HasSubstr("no column \"question\""));
}

Doc doc_of(const Source& question, const Source& target, const Source& choice) {
  const DocTemplates templates{.text = compiled(question), .target = compiled(target), .choice = compiled(choice)};
  return templates.of(row_of(sum_row)).value();
}

TEST(Templates, read_numbers_and_lists_out_of_texts) {
  EXPECT_EQ(*doc_of(text("question"), text("{{label}}"), text("options")).target.integer(), 1);
  EXPECT_EQ(doc_of(text("question"), text("{{label}}"), {}).target.bytes(), "1");  // a text without choices
  EXPECT_EQ(*doc_of(text("question"), text("label"), {}).target.integer(), 1);     // a column is what it is
  EXPECT_EQ(doc_of(text("question"), text("{{answer}}"), {}).target.list()->get()->items.size(), 2U);
  EXPECT_EQ(doc_of(text("question"), text("[no list"), {}).target.bytes(), "[no list");
  EXPECT_THAT(doc_of(text("q"), text("a"), text("{{options}}")).choices, ElementsAre("3", "4"));
  EXPECT_THAT(doc_of(text("q"), text("a"), {.kind = Source::Kind::list, .list = {"no", "yes"}}).choices,
              ElementsAre("no", "yes"));
  EXPECT_TRUE(doc_of(text("{{label}}"), text("a"), text("options")).has_many_contexts());
}

TEST(Templates, of_published_tasks_say_what_they_say_in_python) {
  struct Row {
    std::string_view row, source, text;
  };
  for (const Row& each : {
           Row{R"({"choices":{"text":["x","y"],"label":["A","B"]},"key":"B"})", "{{choices.label.index(key)}}", "1"},
           Row{R"({"choices":{"text":["x","y"]}})", "{{choices.text}}", "['x', 'y']"},
           Row{R"({"text":"to be or not"})", "{{text.split(' ')[:-1]|join(' ')}}", "to be or"},
           Row{R"({"text":"to be or not"})", "{{' '+text.split(' ')[-1]}}", " not"},
           Row{R"({"target":"9"})", "{{answer.split('####')[-1].strip() if answer is defined else target}}", "9"},
           Row{R"({"answer":"so #### 7"})", "{{answer.split('####')[-1].strip() if answer is defined else target}}",
               "7"},
           Row{R"({"n":"2"})", "{{['1', '2', '3', '4'].index(n)}}", "1"},
           Row{R"({"q":" a\n","o":["x","y"]})",
               "{{q.strip()}}\nA. {{o[0]}}\nB. {{o[1]}}\nAnswer:", "a\nA. x\nB. y\nAnswer:"},
           Row{R"({"s":["a","b"]})", "{% for x in s %}{{loop.index}}) {{x}}\n{% endfor %}", "1) a\n2) b\n"},
           Row{R"({"a":1.0,"b":true,"c":null})", "{{a}} {{b}} {{c}}", "1.0 True None"},
       }) {
    const auto text = compiled({.kind = Source::Kind::text, .text = std::string(each.source)}).of(row_of(each.row));
    ASSERT_TRUE(text) << each.source << ": " << text.error();
    EXPECT_EQ(python_text(*text), each.text) << each.source;
  }
}

TEST(Templates, refuse_choices_that_are_none) {
  const auto fault = [](std::string_view choice) {
    const DocTemplates templates{
        .text = compiled(text("q")), .target = compiled(text("a")), .choice = compiled(text(choice))};
    return templates.of(row_of(sum_row)).error();
  };
  EXPECT_THAT(fault("{{question}}"), HasSubstr("no list"));
  EXPECT_THAT(fault("question"), HasSubstr("no list"));
  EXPECT_THAT(fault("label"), HasSubstr("no list"));
  EXPECT_THAT(fault("{{[]}}"), HasSubstr("no choices"));
  EXPECT_THAT(fault("{{['']}}"), HasSubstr("empty choice"));
  EXPECT_THAT(fault("{{[none]}}"), HasSubstr("a list with a NoneType"));
}

TEST(Prompts, are_a_description_examples_and_the_question) {
  const Joints joints;
  const Doc doc = doc_of(text("Q: {{question}}\nA:"), text("{{answer[0]}}"), {});
  EXPECT_EQ(example_text(doc, joints, ""), "Q: 2+2?\nA: 4\n\n");
  const std::vector<std::string> examples = {"Q: 1\nA: 1\n\n", "Q: 2\nA: 2\n\n"};
  const Prompt prompt = prompt_of(doc, "Add.\n\n", examples, joints, "").value();
  EXPECT_EQ(prompt.whole(0), "Add.\n\nQ: 1\nA: 1\n\nQ: 2\nA: 2\n\nQ: 2+2?\nA:");
  const auto chat = prompt.chat();
  ASSERT_EQ(chat.size(), 2U);
  EXPECT_EQ(chat[0].role, "system");
  EXPECT_EQ(chat[0].content, "Add.\n\n");
  EXPECT_EQ(chat[1].content, "Q: 1\nA: 1\n\nQ: 2\nA: 2\n\nQ: 2+2?\nA:");
}

TEST(Prompts, join_an_answers_beginning_where_no_white_space_does) {
  const Joints joints;
  const Doc doc = doc_of(text("Q"), text("{{answer[0]}}"), {});
  EXPECT_EQ(example_text(doc, joints, "The answer is"), "Q The answer is 4\n\n");
  const Prompt prompt = prompt_of(doc, "", {}, joints, "The answer is").value();
  EXPECT_EQ(prompt.whole(0), "Q The answer is");
  ASSERT_EQ(prompt.chat().size(), 2U);
  EXPECT_EQ(prompt.chat()[0].content, "Q");
  EXPECT_EQ(prompt.chat()[1].role, "assistant");
  EXPECT_EQ(prompt.chat()[1].content, "The answer is");
  const Doc spaced = doc_of(text("Q\n"), text("{{answer[0]}}"), {});
  EXPECT_EQ(example_text(spaced, joints, "So "), "Q\nSo 4\n\n");
  EXPECT_EQ(prompt_of(spaced, "", {}, joints, "So ").value().whole(0), "Q\nSo ");
}

TEST(Prompts, of_examples_without_an_answer_end_with_the_question) {
  EXPECT_EQ(example_text(doc_of(text("Q"), text(""), {}), {}, ""), "Q");
}

TEST(Prompts, show_choices_by_their_texts) {
  EXPECT_EQ(example_text(doc_of(text("Q"), text("label"), text("options")), {}, ""), "Q 4\n\n");
  EXPECT_EQ(example_text(doc_of(text("Q"), text("answer"), text("options")), {}, ""), "Q 4\n\n");  // the first answer
  // Choices as contexts: the right one with what follows it.
  const Doc many = doc_of(text("{{label}}"), text("end"), text("options"));
  EXPECT_EQ(example_text(many, {}, ""), "4 end\n\n");
  const Prompt prompt = prompt_of(many, "D", std::vector<std::string>{"E "}, {}, "").value();
  EXPECT_THAT(prompt.contexts, ElementsAre("E 3", "E 4"));
  EXPECT_EQ(prompt.whole(1), "DE 4");
}

TEST(Prompts, white_space_at_a_contexts_end_belongs_to_what_follows) {
  const auto [context, continuation] = continued("Q: a\n A: \n", "b");
  EXPECT_EQ(context, "Q: a\n A:");
  EXPECT_EQ(continuation, " \nb");
  EXPECT_EQ(continued("Q", " b").continuation, " b");
  EXPECT_EQ(continued("", "b").context, "");
}

}  // namespace
}  // namespace stackgate::evaluator::harness
