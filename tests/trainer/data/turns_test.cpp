#include "services/trainer/data/turns.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "services/kit/json/parse.hpp"

namespace stackgate::trainer {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;

const std::vector<std::string> ends{"<end>", "</s>"};
constexpr std::string_view conversation =
    R"([{"role":"system","content":"S"},{"role":"user","content":"q"},{"role":"assistant","content":"a"},)"
    R"({"role":"user","content":"r"},{"role":"assistant","content":"b"}])";
constexpr std::string_view chat_ml =
    "{% for m in messages %}<{{ m.role }}>{{ m.content }}<end>\n{% endfor %}"
    "{% if add_generation_prompt %}<assistant>{% endif %}";

std::expected<Turns, std::string> turns(std::string_view source, std::string_view messages = conversation) {
  const std::vector<model::NamedTemplate> templates{{"default", std::string(source)}};
  const auto compiled = model::ChatTemplates::compile(templates, {});
  EXPECT_TRUE(compiled.findings.empty());
  json::Document document;
  return turns_of(compiled.templates, json::parse(messages, document).value(), {}, ends);
}

/// "untrained[trained]…"
std::string marked(const Turns& turns) {
  std::string out;
  for (const Segment& each : turns.segments) out += each.trained ? "[" + each.text + "]" : each.text;
  return out;
}

TEST(Turns, are_found_by_rendering_beginnings) {
  const Turns found = turns(chat_ml).value();
  EXPECT_EQ(marked(found), "<system>S<end>\n<user>q<end>\n<assistant>[a<end>]\n<user>r<end>\n<assistant>[b<end>]");
  EXPECT_FALSE(found.last_only);
}

TEST(Turns, are_found_by_marks) {
  const Turns found = turns(
                          "{% for m in messages %}<{{ m.role }}>{% if m.role == 'assistant' %}{% generation %}"
                          "{{ m.content }}{% endgeneration %}{% else %}{{ m.content }}{% endif %}<end>\n{% endfor %}")
                          .value();
  EXPECT_EQ(marked(found), "<system>S<end>\n<user>q<end>\n<assistant>[a<end>]\n<user>r<end>\n<assistant>[b<end>]")
      << "with the end token that follows the mark";
}

TEST(Turns, without_end_tokens_are_trained_whole) {
  const Turns found = turns(
                          "{% for m in messages %}{{ m.role }}: {{ m.content }}\n{% endfor %}"
                          "{% if add_generation_prompt %}assistant: {% endif %}")
                          .value();
  EXPECT_EQ(marked(found), "system: S\nuser: q\nassistant: [a\n]user: r\nassistant: [b\n]");
}

// Templates of models that think leave the thoughts of earlier turns out.
TEST(Turns, that_are_written_otherwise_later_are_trained_as_the_last_only) {
  const Turns found =
      turns(
          "{% for m in messages %}<{{ m.role }}>{% if m.role == 'assistant' and loop.last %}thought {% endif "
          "%}{{ m.content }}<end>{% endfor %}{% if add_generation_prompt %}<assistant>{% endif %}")
          .value();
  EXPECT_EQ(marked(found), "<system>S<end><user>q<end><assistant>a<end><user>r<end><assistant>[thought b<end>]");
  EXPECT_TRUE(found.last_only);
}

TEST(Turns, that_cannot_be_told_apart_are_a_fault) {
  EXPECT_THAT(
      turns("{% for m in messages %}{{ m.content }}{% endfor %}{% if add_generation_prompt %}?{% endif %}").error(),
      HasSubstr("{% generation %}"));
  EXPECT_THAT(turns("{{ raise_exception('only one') }}").error(), HasSubstr("only one"));
}

TEST(Turns, a_first_answer_that_nothing_asked_for_is_not_trained) {
  EXPECT_EQ(marked(turns(chat_ml, R"([{"role":"assistant","content":"hi"},{"role":"user","content":"q"},)"
                                  R"({"role":"assistant","content":"a"},{"role":"user","content":"bye"}])")
                       .value()),
            "<assistant>hi<end>\n<user>q<end>\n<assistant>[a<end>]");
}

TEST(Turns, an_end_token_in_an_answer_does_not_end_it) {
  EXPECT_EQ(
      marked(turns(chat_ml, R"([{"role":"user","content":"q"},{"role":"assistant","content":"a<end>b"}])").value()),
      "<user>q<end>\n<assistant>[a<end>b<end>]");
}

}  // namespace
}  // namespace stackgate::trainer
