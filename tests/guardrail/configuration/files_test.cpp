// Files: which is what, stores parted, several YAML files joined, several configurations joined.
#include <gtest/gtest.h>

#include "services/guardrail/configuration/folder.hpp"
#include "services/guardrail/configuration/python_names.hpp"
#include "services/kit/jinja/to_json.hpp"
#include "tests/guardrail/configuration/read.hpp"

namespace stackgate::guardrail {
namespace {

using namespace test;

std::string parted(std::initializer_list<std::string_view> names, bool flat) {
  std::vector<File> store;
  for (const std::string_view name : names) store.push_back({std::string(name), "x", "shown " + std::string(name)});
  std::string out;
  for (const auto& [id, in] : split_by_configuration(store, flat)) {
    out += id + ":";
    for (const File& each : in) {
      out += " " + each.name;
      EXPECT_TRUE(each.shown.starts_with("shown "));
    }
    out += "\n";
  }
  return out;
}

TEST(ConfigurationFiles, StoresArePartedByConfiguration) {
  EXPECT_EQ(parted({"a/config.yml", "a/rails.co", "a/kb/x.md", "b/config.yaml", "c/notes.txt", "readme.md"}, false),
            "a: config.yml rails.co kb/x.md\nb: config.yaml\n");
  EXPECT_EQ(parted({"config.yml", "kb/x.md", "sub/rails.co"}, false), "default: config.yml kb/x.md sub/rails.co\n");
  EXPECT_EQ(parted({"..data/config.yml", "/config.yml", "a/b/config.yml"}, false), "");
  EXPECT_EQ(parted({"a__config.yml", "a__kb__x.md", "a__actions____init__.py", "b__config.yml"}, true),
            "a: config.yml kb/x.md actions/__init__.py\nb: config.yml\n");
  EXPECT_EQ(parted({"config.yml", "rails.co", "my_flows.co"}, true), "default: config.yml rails.co my_flows.co\n");
  EXPECT_EQ(parted({"config.yml", "kb__x.md", "b__config.yml"}, true), "b: config.yml\ndefault: config.yml kb/x.md\n");
  EXPECT_EQ(parted({"__config.yml", "a__"}, true), "default: __config.yml a__\n");
}

TEST(ConfigurationFiles, KindsByName) {
  EXPECT_EQ(kind_of("config.yml"), FileKind::yaml);
  EXPECT_EQ(kind_of("more/prompts.yaml"), FileKind::yaml);
  EXPECT_EQ(kind_of("kb/prices.yml"), FileKind::other);
  EXPECT_EQ(kind_of("kb/prices.md"), FileKind::knowledge);
  EXPECT_EQ(kind_of("docs/prices.md", "docs"), FileKind::knowledge);
  EXPECT_EQ(kind_of("readme.md"), FileKind::other);
  EXPECT_EQ(kind_of("actions.py"), FileKind::python);
  EXPECT_EQ(kind_of("actions/a.py"), FileKind::python);
  EXPECT_EQ(kind_of("tools/a.py"), FileKind::other);
}

TEST(ConfigurationFiles, RailsIgnore) {
  const IgnoredFiles ignored("# comment\n*.draft.co\nold/\n  secret?.md  \nkb/[a-c]*.md\n[!x]y.co\r\n[z\n");
  for (const std::string_view name :
       {"x.draft.co", "deep/x.draft.co", "old/a.co", "deep/old/a.co", "secret1.md", "kb/beer.md", "ay.co", "[z"})
    EXPECT_TRUE(ignored.contains(name)) << name;
  for (const std::string_view name : {"x.co", "older/a.co", "secret12.md", "kb/dog.md", "xy.co", "comment", ""})
    EXPECT_FALSE(ignored.contains(name)) << name;
  EXPECT_TRUE(fits("a*b*c", "aXbYbZc"));
  EXPECT_FALSE(fits("a*b*c", "aXbYbZ"));
}

// Lists one behind the other, mappings member by member, of the rest the later file counts.
TEST(ConfigurationFiles, YamlFilesAreJoinedInTheOrderOfTheirNames) {
  const auto both =
      read({{"b.yml", "lowest_temperature: 0.5\nrails:\n  output: {flows: [mine]}\n  input: {flows: [other]}\n"},
            {"a.yml", "lowest_temperature: 0.1\npassthrough: true\nrails:\n  input: {flows: [mine]}\n"},
            {"c.yml", "# nothing\n"},
            {"r.co", "define subflow mine\n  stop\n\ndefine subflow other\n  stop\n"}});
  EXPECT_EQ(lines(both.findings), "");
  ASSERT_NE(both.configuration, nullptr);
  EXPECT_EQ(both.configuration->lowest_temperature, 0.5);
  EXPECT_TRUE(both.configuration->passthrough);
  ASSERT_EQ(both.configuration->input.flows.size(), 2U);
  EXPECT_EQ(both.configuration->input.flows[0].flow, "mine");
  EXPECT_EQ(both.configuration->input.flows[1].flow, "other");
  EXPECT_EQ(both.configuration->output.flows.size(), 1U);
}

ConfigurationPtr made(std::string_view id, std::initializer_list<Text> texts) {
  std::vector<File> in = files(texts);
  for (File& each : in) each.shown = std::string(id) + "/" + each.name;
  auto out = read_configuration(id, in);
  EXPECT_EQ(lines(out.findings), "") << id;
  return out.configuration;
}

TEST(ConfigurationFiles, SeveralConfigurationsAsOne) {
  const auto first = made("a", {{"config.yml",
                                 "models:\n- {type: main, engine: openai, model: m}\nrails:\n  input: {flows: "
                                 "[mine, common]}\nlowest_temperature: 0.1\nprompts:\n- {task: general, "
                                 "content: a}\n"},
                                {"r.co",
                                 "define subflow mine\n  bot first\n  stop\n\ndefine bot first\n  \"1\"\n\ndefine "
                                 "subflow common\n  stop\n"},
                                {"kb/x.md", "a"}});
  const auto second =
      made("b", {{"config.yml",
                  "models:\n- {type: main, engine: openai, model: m}\n- {type: judge, engine: nim, model: "
                  "j}\nrails:\n  input: {flows: [common, other]}\nlowest_temperature: 0.2\nprompts:\n- {task: "
                  "general, content: b}\n"},
                 {"r.co",
                  "define subflow other\n  stop\n\ndefine subflow common\n  bot second\n\ndefine bot second\n  "
                  "\"2\"\n"}});
  ASSERT_TRUE(first && second);
  const auto both = combine({first, second});
  EXPECT_EQ(lines(both.findings), "");
  ASSERT_NE(both.configuration, nullptr);
  const Configuration& c = *both.configuration;
  EXPECT_EQ(c.id, "a,b");
  EXPECT_EQ(c.models.size(), 2U);
  ASSERT_EQ(c.input.flows.size(), 3U);
  EXPECT_EQ(c.input.flows[0].flow, "mine");
  EXPECT_EQ(c.input.flows[1].flow, "common");
  EXPECT_EQ(c.input.flows[2].flow, "other");
  EXPECT_EQ(c.lowest_temperature, 0.2);
  EXPECT_EQ(c.prompts.find("general")->parts.front().source, "b");
  EXPECT_EQ(c.knowledge.size(), 1U);
  // The later one's flow of this name counts.
  const auto& code = c.program.find_flow("common")->code;
  ASSERT_FALSE(code.empty());
  EXPECT_EQ(code.front().op, colang::Op::bot);
  EXPECT_EQ(code.front().name, "second");
  // One alone is itself.
  const auto alone = combine({first});
  ASSERT_NE(alone.configuration, nullptr);
  EXPECT_EQ(alone.configuration->id, "a");
}

TEST(ConfigurationFiles, WhatCannotBeJoined) {
  const auto first = made("a", {{"config.yml",
                                 "models:\n- {type: main, engine: openai, model: m}\nactions_server_url: "
                                 "http://a\n"}});
  const auto second = made(
      "b", {{"config.yml", "models:\n- {type: main, engine: openai, model: other}\nactions_server_url: http://b\n"}});
  ASSERT_TRUE(first && second);
  const auto both = combine({first, second});
  EXPECT_EQ(both.configuration, nullptr);
  EXPECT_EQ(
      lines(both.findings),
      "error b: has another model of type \"main\" than \"a\"; give both the same engine, model and address, or one "
      "of them another type [guardrail-conflict]\n"
      "error b: has another actions_server_url than \"a\"; let both name the same server [guardrail-conflict]\n");
  const auto at = [](std::string id, const std::string& url) {
    return made(
        std::move(id),
        {{"config.yml", "models:\n- {type: main, engine: openai, model: m, parameters: {base_url: " + url + "}}\n"}});
  };
  EXPECT_EQ(combine({at("a", "http://a/v1"), at("b", "http://b/v1")}).configuration, nullptr);
  EXPECT_NE(combine({at("a", "http://a/v1"), at("b", "http://a/v1")}).configuration, nullptr);
  const auto with_code = [](std::string id, std::string text) {
    return made(std::move(id),
                {{"config.yml", "models: []\n"}, {"actions.py", std::move(text)}, {"actions/b.py", "y = 1"}});
  };
  EXPECT_EQ(
      lines(combine({with_code("a", "x = 1"), with_code("b", "x = 2")}).findings),
      "error b: has another actions.py than \"a\"; let both have the same, or give one of them another name in the "
      "folder actions/ [guardrail-conflict]\n");
  const auto same = combine({with_code("a", "x = 1"), with_code("b", "x = 1")});
  ASSERT_NE(same.configuration, nullptr);
  EXPECT_EQ(same.configuration->python_files.size(), 2U);
  EXPECT_NE(combine({first, first}).configuration, nullptr);
}

TEST(ConfigurationFiles, ActionsOfPythonByTheirNames) {
  struct Case {
    std::string_view code, names;
  };
  const Case cases[] = {
      {"@action(name=\"find\")\nasync def f(): pass", "find"},
      {"@action()\ndef f(): pass", "f"},
      {"@action\ndef f(): pass", "f"},
      {"@actions.action('find')\ndef f(): pass", "find"},
      {"@action(is_system_action=True, name='find', output_mapping=lambda v: (v, 1))\n@other(name='no')\nasync def "
       "f(x=1):"
       " pass",
       "find+"},
      {"@action(output_mapping=None)\ndef f(): pass", "f"},
      {"@action(name=\n  \"find\",  # not 'this'\n)\nclass Finder:\n  def run(self): pass", "find"},
      {"# @action()\n'''@action()\ndef f(): pass'''\n\"@action()\"\ndef g(): pass", ""},
      {"@staticmethod\ndef action(): pass\ndef f(): pass", ""},
      {"def init(app):\n  app.register_action(f, 'find')\n  app.register_action(g)\n  app.register_action(m.h, "
       "name=\"h2\")",
       "find g h2 init"},
      {"for f in all: app.register_action(f, f.name)", "dynamic"},
      {"@action(name=NAME)\ndef f(): pass", "dynamic"},
      {"@action(name=f\"{x}\")\ndef f(): pass", "dynamic"},
      {"def register_action(x): pass", ""},
      {"@action(name=\"a\")\ndef a(): pass\n@action(name=\"a\")\ndef b(): pass", "a"},
      {"@action(", ""},
      {"@action(name='x", ""},
      {"'''", ""},
      {"@action((((]]]])def", ""},
  };
  for (const Case& each : cases) {
    const PythonNames found = python_names(each.code);
    std::string out;
    for (const PythonAction& action : found.actions)
      out += (out.empty() ? "" : " ") + action.name + (action.output_mapping ? "+" : "");
    if (found.has_init) out += " init";
    if (found.dynamic) out += "dynamic";
    EXPECT_EQ(out, each.names) << each.code;
  }
}

}  // namespace
}  // namespace stackgate::guardrail
