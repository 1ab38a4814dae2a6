#include "services/evaluator/suite/harness/config.hpp"

#include <gmock/gmock.h>

#include "tests/evaluator/harness/harness_support.hpp"

namespace stackgate::evaluator::harness {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;

constexpr std::string_view base = "task: t\ntest_split: test\ndoc_to_text: q\ndoc_to_target: a\n";

struct Read {
  TaskConfig config{};
  validate::Findings findings{};
};

Read read(const std::string& text) {
  const Files files{{{"t.yaml", text}}};
  TaskFiles task_files(files.source());
  Read out;
  const std::vector<std::string> names = {"t"};
  const std::vector<ChosenTask> chosen = task_files.choose(names, out.findings);
  if (!chosen.empty()) out.config = read_config(chosen.front(), out.findings);
  return out;
}
/// Of what stands behind the base: line 5 is the first.
std::string faults(std::string_view more) { return lines_of(read(std::string(base) + std::string(more)).findings); }

TaskConfig good(std::string_view more) {
  Read out = read(std::string(base) + std::string(more));
  EXPECT_THAT(out.findings, IsEmpty()) << lines_of(out.findings);
  return std::move(out.config);
}

TEST(TaskConfig, has_the_harness_defaults) {
  const TaskConfig config = good("");
  EXPECT_EQ(config.output, OutputType::generate_until);
  EXPECT_EQ(config.target_delimiter, " ");
  EXPECT_EQ(config.fewshot_delimiter, "\n\n");
  EXPECT_EQ(config.repeats, 1U);
  EXPECT_EQ(config.fewshot.count, 0U);
  EXPECT_FALSE(config.fewshot.is_zero_by_file);
  EXPECT_THAT(config.generation.until, ElementsAre("\n\n"));
  EXPECT_EQ(config.generation.temperature, 0);
  ASSERT_EQ(config.metrics.size(), 1U);
  EXPECT_EQ(config.metrics[0].kind->name, "exact_match");
  ASSERT_EQ(config.filters.size(), 1U);
  EXPECT_EQ(config.filters[0].name, "none");
}

TEST(TaskConfig, output_types_have_metrics_of_their_own) {
  const auto names = [](std::string_view more) {
    std::vector<std::string_view> out;
    for (const MetricConfig& each : good(more).metrics) out.push_back(each.kind->name);
    return out;
  };
  EXPECT_THAT(names("output_type: multiple_choice\ndoc_to_choice: [a, b]\n"), ElementsAre("acc", "acc_norm"));
  EXPECT_THAT(names("output_type: loglikelihood\n"), ElementsAre("perplexity", "acc"));
  EXPECT_THAT(names("output_type: loglikelihood_rolling\n"),
              ElementsAre("word_perplexity", "byte_perplexity", "bits_per_byte"));
}

TEST(TaskConfig, reads_what_is_there) {
  const TaskConfig config = good(R"yaml(task_alias: T
output_type: generate_until
num_fewshot: 4
fewshot_config:
  sampler: first_n
  samples:
  - {q: 1, a: x}
  doc_to_target: "{{a}}!"
generation_kwargs: {until: "\n", max_gen_toks: 7, temperature: 0.5, top_p: 0.9, do_sample: true}
metric_list:
- {metric: exact_match, aggregation: median, higher_is_better: false, ignore_case: true, regexes_to_ignore: [","]}
- metric: bleu
filter_list:
- name: strict
  filter:
  - {function: regex, regex_pattern: "(\\d+)", group_select: -1, fallback: 0}
  - {function: map, mapping_dict: {"1": one, "2": true}, default_value: no idea}
  - function: take_first
repeats: 3
gen_prefix: "So"
dataset_kwargs: {data_files: {test: [a.jsonl, b.jsonl]}}
metadata: {version: 1.5}
)yaml");
  EXPECT_EQ(config.alias, "T");
  EXPECT_EQ(config.fewshot.count, 4U);
  EXPECT_TRUE(config.fewshot.first_n);
  EXPECT_THAT(config.fewshot.samples, ElementsAre(R"({"q":1,"a":"x"})"));
  EXPECT_EQ(config.fewshot.target.text, "{{a}}!");
  EXPECT_THAT(config.generation.until, ElementsAre("\n"));
  EXPECT_EQ(config.generation.max_tokens, 7U);
  EXPECT_EQ(config.generation.temperature, 0.5);
  EXPECT_EQ(config.generation.top_p, 0.9);
  EXPECT_EQ(config.metrics[0].aggregation, Aggregation::median);
  EXPECT_FALSE(config.metrics[0].higher_is_better);
  EXPECT_EQ(config.metrics[0].match->compared("A,B"), "ab");
  EXPECT_EQ(config.metrics[1].aggregation, Aggregation::bleu);
  ASSERT_EQ(config.filters[0].steps.size(), 3U);
  EXPECT_EQ(config.filters[0].steps[0].group_select, -1);
  EXPECT_EQ(config.filters[0].steps[0].fallback, "0");
  EXPECT_EQ(config.filters[0].steps[1].mapping[1].second, "True");
  EXPECT_EQ(config.filters[0].steps[1].otherwise, "no idea");
  EXPECT_EQ(config.repeats, 3U);
  EXPECT_EQ(config.version, "1.5");
  EXPECT_THAT(config.data_files[0].paths, ElementsAre("a.jsonl", "b.jsonl"));
}

TEST(TaskConfig, every_fault_has_its_line_and_cure) {
  struct Row {
    std::string_view text, finding;
  };
  for (const Row& row : {
           Row{"doc_to_tex: x", "t.yaml:5: doc_to_tex is no setting of a task; write \"doc_to_text\""},
           Row{"process_docs: !function u.f", "t.yaml:5: process_docs runs Python over the rows"},
           Row{"process_results: !function u.f", "process_results scores by Python"},
           Row{"class: !function t.T", "class is a Python class"},
           Row{"description: !function u.f", "t.yaml:5: description is a Python function (!function u.f)"},
           Row{"unsafe_code: true", "t.yaml:5: unsafe_code says that what the model writes is run"},
           Row{"group: g", "write \"tag\""},
           Row{"output_type: generate", "t.yaml:5: output_type \"generate\" is no output type"},
           Row{"output_type: multiple_choice", "\"t\" has no doc_to_choice"},
           Row{"num_fewshot: many", "t.yaml:5: num_fewshot is no whole number"},
           Row{"num_fewshot: 1000", "write a number from 0 to 100"},
           Row{"doc_to_choice: [no, yes]", "doc_to_choice[0] is no text but boolean; put it into quotes"},
           Row{"fewshot_config: {sampler: balanced}", "fewshot_config.sampler \"balanced\" is no sampler"},
           Row{"fewshot_config: {samplr: default}",
               "fewshot_config.samplr is no key of fewshot_config; write \"sampler\""},
           Row{"fewshot_config: {samples: !function u.f}", "fewshot_config.samples is a Python function"},
           Row{"fewshot_config: {samples: [{q: y}]}", "fewshot_config.samples[0].q may be a letter or a boolean"},
           Row{"generation_kwargs: {untl: x}", "generation_kwargs.untl is no key"},
           Row{"generation_kwargs: {temperature: 3}", "generation_kwargs.temperature is no number within its bounds"},
           Row{"metric_list: exact_match", "metric_list is no list"},
           Row{"metric_list:\n- metric: exact_mach", "t.yaml:6: metric_list[0].metric \"exact_mach\" is no metric"},
           Row{"metric_list:\n- metric: acc", "is no metric of generate_until"},
           Row{"metric_list:\n- metric: !function u.f", "metric_list[0].metric is a Python function"},
           Row{"metric_list:\n- {metric: bleu, aggregation: mean}", "\"mean\" is no aggregation of bleu"},
           Row{"metric_list:\n- {metric: bleu, ignore_case: true}", "ignore_case means nothing to bleu"},
           Row{"metric_list:\n- {metric: bleu}\n- {metric: bleu}", "t.yaml:7: metric_list[1] names bleu once more"},
           Row{"metric_list:\n- {metric: exact_match, regexes_to_ignore: ['(?=a)']}", "is no pattern"},
           Row{"filter_list:\n- {name: a, filter: [{function: regx}]}",
               "\"regx\" is no filter that is here; write \"regex\""},
           Row{"filter_list:\n- {name: a, filter: [{function: regex, regex_pattern: '(?<=a+)b'}]}",
               "regex_pattern \"(?<=a+)b\" is no pattern that RE2 runs: looks ahead or behind"},
           Row{"filter_list:\n- {name: a, filter: [{function: take_first}, {function: lowercase}]}",
               "comes after take_first"},
           Row{"filter_list:\n- {filter: [{function: take_first}]}", "has no name"},
           Row{"filter_list:\n- {name: a, filter: [{function: take_first_k}]}", "has no k"},
           Row{"filter_list:\n- {name: a, filter: [{function: map}]}", "has no mapping"},
           Row{"filter_list:\n- {name: a, filter: [{function: custom}]}", "\"custom\" is no filter"},
           Row{"filter_list:\n- {name: a, filter: [{function: lowercase, k: 1}]}",
               "k is no key of the filter lowercase"},
           Row{"repeats: 2\nfilter_list:\n- {name: a, filter: [{function: lowercase}]}", "\"a\" leaves 2 answers"},
           Row{"output_type: loglikelihood\nfilter_list:\n- {name: a, filter: [{function: lowercase}]}",
               "\"a\" changes texts, of which loglikelihood has none"},
           Row{"should_decontaminate: true", "should_decontaminate is not done here"},
           Row{"generation_kwargs: {do_sample: true}", "the temperature is 0"},
           Row{"dataset_kwargs: {trust_remote_code: true}", "dataset_kwargs.trust_remote_code is not looked at"},
       })
    EXPECT_THAT(faults(row.text), HasSubstr(row.finding)) << row.text;
}

TEST(TaskConfig, several_faults_are_said_at_once) {
  const Read out = read("task: t\nrepeats: none\nmetric_list: [{metric: x}]\n");
  const std::string lines = lines_of(out.findings);
  for (const std::string_view each :
       {"no test_split", "has no doc_to_text", "has no doc_to_target", "repeats", "\"x\""})
    EXPECT_THAT(lines, HasSubstr(each));
}

TEST(TaskConfig, no_sampling_is_no_temperature) {
  const Read out = read(std::string(base) + "generation_kwargs: {do_sample: false, temperature: 0.7}\n");
  EXPECT_EQ(out.config.generation.temperature, 0);
  EXPECT_FALSE(validate::has_errors(out.findings));
  EXPECT_THAT(lines_of(out.findings), HasSubstr("is not used"));
}

}  // namespace
}  // namespace stackgate::evaluator::harness
