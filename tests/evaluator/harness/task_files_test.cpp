#include "services/evaluator/suite/harness/task_files.hpp"

#include <gmock/gmock.h>

#include "services/kit/json/write.hpp"
#include "tests/evaluator/harness/harness_support.hpp"

namespace stackgate::evaluator::harness {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;

struct Chosen {
  std::deque<TaskFiles> read{};  // what the chosen ones are views into
  std::vector<ChosenTask> tasks{};
  validate::Findings findings{};

  std::vector<std::string> names() const {
    std::vector<std::string> out;
    for (const ChosenTask& each : tasks) out.push_back(each.name);
    return out;
  }
  std::string setting(std::size_t task, std::string_view key) const {
    const auto found = tasks[task].settings.find(key);
    if (found == tasks[task].settings.end()) return "none";
    return json::to_json(found->second.value);
  }
};

Chosen choose(const Files& files, std::vector<std::string> names) {
  Chosen out;
  out.read.emplace_back(files.source());
  out.tasks = out.read.front().choose(names, out.findings);
  return out;
}

TEST(TaskFiles, are_found_by_the_names_in_them) {
  const Chosen chosen = choose({{{"deep/x.yaml", "task: a\nrepeats: 2\n"},
                                 {"y.yml", "task: b\n"},
                                 {"z.json", R"({"task":"c"})"},
                                 {"values.yaml", "replicas: 3\n"}}},
                               {"b", "a"});
  EXPECT_THAT(chosen.names(), ElementsAre("b", "a"));
  EXPECT_THAT(chosen.findings, IsEmpty());
  EXPECT_EQ(chosen.setting(1, "repeats"), "2");
  EXPECT_EQ(chosen.tasks[1].settings.at("repeats").place(), "deep/x.yaml:2");
}

TEST(TaskFiles, unknown_names_have_a_nearest_one) {
  const Chosen chosen = choose({{{"x.yaml", "task: questions\n"}, {"broken.yaml", "a: b: c\n"}}}, {"questons"});
  const std::string lines = lines_of(chosen.findings);
  EXPECT_THAT(lines, HasSubstr("tasks[0]: \"questons\" is no task"));
  EXPECT_THAT(lines, HasSubstr("write \"questions\""));
  EXPECT_THAT(lines, HasSubstr("broken.yaml:1: is no YAML"));
}

TEST(TaskFiles, included_settings_come_first) {
  const Chosen chosen = choose({{{"t/_base_yaml", "include: ../common.yaml\nrepeats: 2\noutput_type: loglikelihood\n"},
                                 {"common.yaml", "repeats: 1\ndescription: all\n"},
                                 {"t/x.yaml", "include: _base_yaml\ntask: x\noutput_type: generate_until\n"}}},
                               {"x"});
  EXPECT_THAT(chosen.findings, IsEmpty());
  EXPECT_EQ(chosen.setting(0, "repeats"), "2");
  EXPECT_EQ(chosen.setting(0, "output_type"), "\"generate_until\"");
  EXPECT_EQ(chosen.setting(0, "description"), "\"all\"");
  EXPECT_EQ(chosen.tasks[0].settings.at("description").place(), "common.yaml:2");
}

TEST(TaskFiles, includes_that_lead_nowhere_are_faults) {
  struct Row {
    std::string_view include, problem;
  };
  for (const Row& row : {Row{"nothing.yaml", "does not have"}, Row{"../../up.yaml", "does not have"},
                         Row{"x.yaml", "files deep"}, Row{"bad.yaml", "is no YAML"}}) {
    const Chosen chosen =
        choose({{{"x.yaml", "task: x\ninclude: " + std::string(row.include) + "\n"}, {"bad.yaml", "[\n"}}}, {"x"});
    EXPECT_THAT(lines_of(chosen.findings), HasSubstr(row.problem)) << row.include;
    EXPECT_THAT(lines_of(chosen.findings), HasSubstr("x.yaml:2: include")) << row.include;
  }
}

TEST(TaskFiles, groups_and_tags_stand_for_their_tasks) {
  const Files files{{{"a.yaml", "task: a\ntag: [small, all]\n"},
                     {"b.yaml", "task: b\ntag: all\n"},
                     {"c.yaml", "task: c\nrepeats: 1\n"},
                     {"g.yaml",
                      "group: g\ngroup_alias: G\ntask:\n- a\n- h\n- {task: c, repeats: 5}\n"
                      "aggregate_metric_list:\n- {metric: acc, weight_by_size: false, filter_list: none}\n"
                      "metadata: {version: 2}\nnum_fewshot: 3\n"},
                     {"h.yaml", "group: h\ntask: [b]\naggregate_metric_list: [{metric: acc}]\n"}}};
  EXPECT_THAT(choose(files, {"all"}).names(), ElementsAre("a", "b"));
  const Chosen chosen = choose(files, {"g", "b"});
  EXPECT_THAT(chosen.findings, IsEmpty()) << lines_of(chosen.findings);
  EXPECT_THAT(chosen.names(), ElementsAre("a", "b", "c"));
  EXPECT_EQ(chosen.setting(0, "num_fewshot"), "3");
  EXPECT_EQ(chosen.setting(2, "repeats"), "5");
  ASSERT_EQ(chosen.tasks[1].groups.size(), 2U);
  EXPECT_EQ(chosen.tasks[1].groups[1].name, "h");
  const TaskGroup& group = chosen.tasks[0].groups[0];
  EXPECT_EQ(group.alias, "G");
  EXPECT_EQ(group.version, "2");
  ASSERT_EQ(group.metrics.size(), 1U);
  EXPECT_FALSE(group.metrics[0].weight_by_size);
  EXPECT_THAT(group.metrics[0].filters, ElementsAre("none"));
}

TEST(TaskFiles, groups_that_are_wrong_say_where) {
  const Chosen chosen = choose({{{"a.yaml", "task: a\n"},
                                 {"g.yaml",
                                  "group: g\ntask:\n- a\n- aa\n- 7\n- g\n- {task: a, repeats: 2}\n- {repeats: 2}\n"
                                  "aggregate_metric_list:\n- {metric: acc, aggregation: max}\n- {metrc: acc}\n"},
                                 {"e.yaml", "group: e\ntask: []\n"}}},
                               {"g", "e"});
  const std::string lines = lines_of(chosen.findings);
  EXPECT_THAT(lines, HasSubstr("g.yaml:4: task[1] \"aa\" is no task"));
  EXPECT_THAT(lines, HasSubstr("g.yaml:5: task[2] is no task"));
  EXPECT_THAT(lines, HasSubstr("leads back to the group \"g\""));
  EXPECT_THAT(lines, HasSubstr("reaches \"a\" a second time"));
  EXPECT_THAT(lines, HasSubstr("names neither a task nor a group"));
  EXPECT_THAT(lines, HasSubstr("g.yaml:10: aggregate_metric_list[0].aggregation is no aggregation"));
  EXPECT_THAT(lines, HasSubstr("g.yaml:11: aggregate_metric_list[1] names no metric"));
  EXPECT_THAT(lines, HasSubstr("write \"metric\""));
  EXPECT_THAT(lines, HasSubstr("e.yaml:2: task gives the group \"e\" no tasks"));
}

TEST(TaskFiles, groups_may_be_written_in_groups) {
  const Chosen chosen =
      choose({{{"a.yaml", "task: a\n"},
               {"g.yaml", "group: g\ntask:\n- group: inner\n  task:\n  - {task: new, include_me: 1}\n  - a\n"}}},
             {"g"});
  EXPECT_THAT(chosen.findings, IsEmpty()) << lines_of(chosen.findings);
  EXPECT_THAT(chosen.names(), ElementsAre("new", "a"));
  EXPECT_EQ(chosen.tasks[1].groups[1].name, "inner");
}

TEST(TaskFiles, two_of_a_name_are_a_fault) {
  const Chosen chosen = choose({{{"a.yaml", "task: a\n"}, {"b.yaml", "task: a\n"}}}, {"a"});
  EXPECT_THAT(lines_of(chosen.findings), HasSubstr("b.yaml: names \"a\", which a.yaml is, too"));
}

TEST(TaskFiles, a_second_document_is_a_fault) {
  const Chosen chosen = choose({{{"a.yaml", "task: a\n---\ntask: b\n"}}}, {"a"});
  EXPECT_THAT(lines_of(chosen.findings), HasSubstr("a.yaml:3: begins a second document"));
}

TEST(TaskFiles, python_is_seen) {
  const Chosen chosen = choose({{{"a.yaml",
                                  "task: a\ndoc_to_text: !function utils.text\ndescription: \"!function\"\n"
                                  "gen_prefix: &p !function x.y\n"}}},
                               {"a"});
  EXPECT_TRUE(chosen.tasks[0].settings.at("doc_to_text").is_function());
  EXPECT_TRUE(chosen.tasks[0].settings.at("gen_prefix").is_function());
  EXPECT_FALSE(chosen.tasks[0].settings.at("description").is_function());
}

}  // namespace
}  // namespace stackgate::evaluator::harness
