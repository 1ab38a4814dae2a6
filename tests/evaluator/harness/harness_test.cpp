#include "services/evaluator/suite/harness/harness.hpp"

#include <cmath>

#include <gmock/gmock.h>

#include "services/kit/json/parse.hpp"
#include "services/kit/json/read.hpp"
#include "tests/evaluator/harness/harness_support.hpp"

namespace stackgate::evaluator::harness {
namespace {

using testing::DoubleEq;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;

using TaskPtr = std::unique_ptr<Task>;

std::vector<TaskPtr> tasks_of(const Files& files, const EvaluationRequest& request) {
  auto out = make_harness_tasks(request, files.source());
  EXPECT_TRUE(out.has_value()) << (out ? "" : lines_of(out.error()));
  return out ? std::move(*out) : std::vector<TaskPtr>();
}
TaskPtr task_of(const Files& files, const EvaluationRequest& request) {
  auto out = tasks_of(files, request);
  return out.empty() ? nullptr : std::move(out.front());
}
std::string faults_of(const Files& files, const EvaluationRequest& request) {
  const auto out = make_harness_tasks(request, files.source());
  return out ? "" : lines_of(out.error());
}

Reply said(std::string text) { return {.answer = Answer{.text = std::move(text)}}; }
Reply likely(double sum, bool greedy = false) {
  return {.answer = Answer{.likelihood = Likelihood{.sum = sum, .tokens = 1, .is_greedy = greedy}}};
}

const Score& score_named(const TaskResult& result, std::string_view name) {
  const auto found = std::ranges::find(result.scores, name, &Score::name);
  EXPECT_NE(found, result.scores.end()) << name;
  return *found;
}

constexpr std::string_view rows =
    "{\"q\":\"a\",\"a\":\"1\"}\n{\"q\":\"b\",\"a\":\"2\"}\n{\"q\":\"c\",\"a\":\"3\"}\n{\"q\":\"d\",\"a\":\"4\"}\n";
constexpr std::string_view qa = "task: qa\ntest_split: test\ndoc_to_text: \"{{q}}=\"\ndoc_to_target: a\n";

Files qa_files(std::string_view more) {
  return {{{"qa.yaml", std::string(qa) + std::string(more)}, {"test.jsonl", std::string(rows)}}};
}

TEST(Harness, asks_for_texts_and_scores_them) {
  const TaskPtr task = task_of(qa_files("metadata: {version: 3}\n"), request_for({"qa"}));
  ASSERT_NE(task, nullptr);
  EXPECT_EQ(task->samples(), 4U);
  EXPECT_FALSE(task->wants_likelihoods());
  const auto asked = task->next(1, {});
  ASSERT_EQ(asked.size(), 1U);
  EXPECT_EQ(asked[0].question.prompt, "b=");
  EXPECT_EQ(asked[0].question.max_tokens, 256U);
  EXPECT_EQ(asked[0].question.temperature, 0);
  EXPECT_EQ(asked[0].question.seed, 1234U);
  EXPECT_THAT(asked[0].question.stop, ElementsAre("\n\n"));
  const std::vector<Reply> replies = {said("2\n\nmore")};
  EXPECT_THAT(task->next(1, replies), IsEmpty());
  const Scored scored = task->score(1, replies);
  EXPECT_EQ(scored.fault, "");
  EXPECT_THAT(scored.values, ElementsAre(1));
  EXPECT_EQ(scored.record,
            R"({"doc_id":1,"doc":{"q":"b","a":"2"},"target":"2","prompt":"b=","resps":["2"],"filtered_resps":["2"],)"
            R"("exact_match":1})");
  const std::vector<std::vector<double>> values = {{1}, {0}, {1}};
  const TaskResult result = task->result(values, 1);
  EXPECT_EQ(result.name, "qa");
  EXPECT_EQ(result.version, "3");
  EXPECT_EQ(result.samples, 4U);
  const Score& score = score_named(result, "exact_match");
  EXPECT_THAT(score.value, DoubleEq(2.0 / 3));
  EXPECT_EQ(score.error_name, "exact_match_stderr");
}

TEST(Harness, a_sample_without_an_answer_says_why) {
  const TaskPtr task = task_of(qa_files(""), request_for({"qa"}));
  const Scored scored = task->score(0, std::vector<Reply>{{.fault = "the endpoint is away"}});
  EXPECT_EQ(scored.fault, "the endpoint is away");
  EXPECT_THAT(scored.values, IsEmpty());
  EXPECT_THAT(scored.record, HasSubstr("\"resps\":[]"));
}

TEST(Harness, draws_examples_as_the_harness_does_and_never_the_question_itself) {
  EvaluationRequest request = request_for({"qa"});
  request.num_fewshot = 2;
  const TaskPtr task = task_of(qa_files(""), request);
  // random.Random(1234): sample(range(4), 3) is [3, 0, 2], then [0, 2, 3], [0, 3, 1], [1, 0, 2].
  EXPECT_EQ(task->next(0, {})[0].question.prompt, "d= 4\n\nc= 3\n\na=");
  EXPECT_EQ(task->next(1, {})[0].question.prompt, "a= 1\n\nc= 3\n\nb=");
  EXPECT_EQ(task->next(2, {})[0].question.prompt, "a= 1\n\nd= 4\n\nc=");
  EXPECT_EQ(task->next(3, {})[0].question.prompt, "b= 2\n\na= 1\n\nd=");
  EXPECT_EQ(task->result({}, 0).num_fewshot, 2U);
  request.limit = 2;
  const TaskPtr shorter = task_of(qa_files(""), request);
  EXPECT_EQ(shorter->samples(), 2U);
  EXPECT_EQ(shorter->next(1, {})[0].question.prompt, "a= 1\n\nc= 3\n\nb=");
}

TEST(Harness, takes_the_first_examples_where_it_is_told_to) {
  const Files files = qa_files("num_fewshot: 2\nfewshot_config: {sampler: first_n}\ndescription: \"Say.\\n\"\n");
  const TaskPtr task = task_of(files, request_for({"qa"}));
  EXPECT_EQ(task->next(0, {})[0].question.prompt, "Say.\nb= 2\n\nc= 3\n\na=");
  EXPECT_EQ(task->next(3, {})[0].question.prompt, "Say.\na= 1\n\nb= 2\n\nd=");
}

TEST(Harness, takes_examples_from_another_split_or_the_task_file) {
  Files files = qa_files("num_fewshot: 1\nfewshot_split: train\n");
  files.files["train.jsonl"] = "{\"q\":\"x\",\"a\":\"9\"}\n";
  EXPECT_EQ(task_of(files, request_for({"qa"}))->next(0, {})[0].question.prompt, "x= 9\n\na=");
  const Files own =
      qa_files("fewshot_config:\n  num_fewshot: 1\n  samples: [{q: z, a: 8}]\n  doc_to_text: \"({{q}})\"\n");
  EXPECT_EQ(task_of(own, request_for({"qa"}))->next(0, {})[0].question.prompt, "(z) 8\n\na=");
}

TEST(Harness, too_few_examples_are_a_fault_unless_more_may_follow) {
  EvaluationRequest request = request_for({"qa"});
  request.num_fewshot = 4;
  const Files files = qa_files("");
  EXPECT_THAT(faults_of(files, request),
              HasSubstr("4 examples of qa are asked for, and \"test\" has 4 rows, of which one"));
  DataSource data = files.source();
  data.beginnings = true;
  EXPECT_TRUE(make_harness_tasks(request, data));
}

TEST(Harness, a_task_file_that_has_no_examples_keeps_to_it) {
  EvaluationRequest request = request_for({"qa"});
  request.num_fewshot = 2;
  const Files files = qa_files("num_fewshot: 0\n");
  validate::Findings warnings;
  const auto tasks = make_harness_tasks(request, files.source(), &warnings);
  ASSERT_TRUE(tasks);
  EXPECT_EQ(tasks->front()->next(0, {})[0].question.prompt, "a=");
  EXPECT_THAT(lines_of(warnings), HasSubstr("qa.yaml:5: num_fewshot is 0"));
}

TEST(Harness, filters_and_repeats) {
  const Files files = qa_files(R"yaml(repeats: 3
filter_list:
- name: vote
  filter:
  - {function: regex, regex_pattern: "(\\d)"}
  - function: majority_vote
  - function: take_first
- name: first
  filter: [{function: take_first}]
metric_list: [{metric: exact_match}, {metric: bleu}]
)yaml");
  const TaskPtr task = task_of(files, request_for({"qa"}));
  const auto asked = task->next(0, {});
  ASSERT_EQ(asked.size(), 3U);
  EXPECT_EQ(asked[2].question.seed, 1236U);  // another answer each time
  const Scored scored = task->score(0, std::vector<Reply>{said("so 2"), said("is 1"), said("1")});
  ASSERT_EQ(scored.values.size(), 2U + 2 * 10);
  EXPECT_EQ(scored.values[0], 1);
  EXPECT_EQ(scored.values[1], 0);
  EXPECT_THAT(scored.record, HasSubstr(R"("filtered_resps":{"vote":["1"],"first":["so 2"]},"exact_match,vote":1,)"
                                       R"("exact_match,first":0,"bleu,vote")"));
  const TaskResult result = task->result(std::vector<std::vector<double>>{scored.values, scored.values}, 0);
  EXPECT_EQ(score_named(result, "exact_match,vote").value, 1);
  EXPECT_EQ(score_named(result, "exact_match,first").error_name, "exact_match_stderr,first");
  EXPECT_EQ(score_named(result, "bleu,first").metric, "bleu");
}

TEST(Harness, by_chat_the_description_is_the_systems) {
  EvaluationRequest request = request_for({"qa"});
  request.requests.chat = true;
  request.requests.temperature = 0.3;
  const TaskPtr task = task_of(qa_files("description: Be short.\nnum_fewshot: 1\n"), request);
  const Question question = task->next(0, {})[0].question;
  EXPECT_EQ(question.prompt, "");
  ASSERT_EQ(question.messages.size(), 2U);
  EXPECT_EQ(question.messages[0].content, "Be short.");
  EXPECT_THAT(question.messages[1].content, HasSubstr("\n\na="));
  EXPECT_EQ(question.temperature, 0.3);
}

constexpr std::string_view choice_rows =
    "{\"q\":\"sky\",\"options\":[\"red\",\"blue\"],\"label\":1}\n{\"q\":\"sun\",\"options\":[\"dark\",\"hot\",\"c\"],"
    "\"label\":0}\n";

Files choice_files(std::string_view more) {
  return {{{"c.yaml",
            "task: c\noutput_type: multiple_choice\nvalidation_split: val\ndoc_to_text: \"{{q}}:\"\ndoc_to_target: "
            "label\ndoc_to_choice: options\n" +
                std::string(more)},
           {"data/val-00000-of-00001.jsonl", std::string(choice_rows)}}};
}

TEST(Harness, choices_are_asked_by_likelihood) {
  const TaskPtr task = task_of(choice_files("description: \"D \"\n"), request_for({"c"}));
  ASSERT_NE(task, nullptr);
  EXPECT_TRUE(task->wants_likelihoods());
  const auto asked = task->next(0, {});
  ASSERT_EQ(asked.size(), 2U);
  EXPECT_EQ(asked[1].question.prompt, "D sky: blue");
  EXPECT_TRUE(asked[1].question.likelihood);
  EXPECT_EQ(asked[1].question.context_characters, 6U);
  const std::vector<Reply> replies = {likely(-3), likely(-1, true)};
  EXPECT_THAT(task->next(0, replies), IsEmpty());
  const Scored scored = task->score(0, replies);
  EXPECT_THAT(scored.values, ElementsAre(1, 1));
  EXPECT_EQ(scored.record,
            R"({"doc_id":0,"doc":{"q":"sky","options":["red","blue"],"label":1},"target":1,"prompt":"D sky:",)"
            R"("arguments":[[" red"],[" blue"]],"resps":[[-3,false],[-1,true]],"acc":1,"acc_norm":1})");
  EXPECT_THAT(task->score(1, std::vector<Reply>{likely(-3), likely(-1), likely(-9)}).values, ElementsAre(0, 0));
  EXPECT_EQ(task->score(0, std::vector<Reply>{likely(-3), {.fault = "slow"}}).fault, "slow");
}

TEST(Harness, white_space_before_the_answer_is_a_part_of_it) {
  const TaskPtr task = task_of(choice_files("target_delimiter: \"\"\n"), request_for({"c"}));
  EXPECT_EQ(task->next(0, {})[0].question.context_characters, 4U);
  Files files = choice_files("");
  files.files["c.yaml"].replace(files.files["c.yaml"].find("{{q}}:"), 6, "{{q}}: ");
  EXPECT_EQ(task_of(files, request_for({"c"}))->next(0, {})[0].question.prompt, "sky:  red");
  EXPECT_EQ(task_of(files, request_for({"c"}))->next(0, {})[0].question.context_characters, 4U);
}

TEST(Harness, mutual_information_asks_for_the_choices_alone_and_again_behind_a_line_end) {
  const TaskPtr task = task_of(choice_files("metric_list: [{metric: acc_mutual_info}]\n"), request_for({"c"}));
  const auto asked = task->next(0, {});
  ASSERT_EQ(asked.size(), 4U);
  EXPECT_EQ(asked[2].question.prompt, " red");
  EXPECT_EQ(asked[2].question.context_characters, 0U);
  std::vector<Reply> replies = {likely(-3), likely(-4), likely(-1), {.fault = "no first token"}};
  const auto again = task->next(0, replies);
  ASSERT_EQ(again.size(), 1U);
  EXPECT_EQ(again[0].question.prompt, "\n blue");
  EXPECT_EQ(again[0].question.context_characters, 1U);
  replies.push_back(likely(-5));
  EXPECT_THAT(task->next(0, replies), IsEmpty());
  EXPECT_THAT(task->score(0, replies).values, ElementsAre(1));  // -2 and 1
}

TEST(Harness, choices_may_be_contexts) {
  const Files files{{{"w.yaml",
                      "task: w\noutput_type: multiple_choice\ntest_split: test\ndoc_to_text: label\ndoc_to_target: "
                      "end\ndoc_to_choice: \"{{[one + ' is', two + ' is']}}\"\nnum_fewshot: 1\n"},
                     {"test.jsonl",
                      "{\"one\":\"A\",\"two\":\"B\",\"label\":1,\"end\":\"big\"}\n"
                      "{\"one\":\"C\",\"two\":\"D\",\"label\":0,\"end\":\"small\"}\n"}}};
  const TaskPtr task = task_of(files, request_for({"w"}));
  const auto asked = task->next(0, {});
  ASSERT_EQ(asked.size(), 2U);
  EXPECT_EQ(asked[0].question.prompt, "C is small\n\nA is big");
  EXPECT_EQ(asked[1].question.prompt, "C is small\n\nB is big");
  EXPECT_THAT(task->score(0, std::vector<Reply>{likely(-2), likely(-1)}).values, ElementsAre(1, 1));
}

TEST(Harness, likelihoods_of_given_texts) {
  const Files files{{{"l.yaml",
                      "task: l\noutput_type: loglikelihood\ntest_split: test\ndoc_to_text: \"{{a}}\"\ndoc_to_target: "
                      "\" {{b}}\"\n"},
                     {"test.jsonl", "{\"a\":\"to be\",\"b\":\"or\"}\n"}}};
  const TaskPtr task = task_of(files, request_for({"l"}));
  EXPECT_EQ(task->next(0, {})[0].question.prompt, "to be or");
  EXPECT_EQ(task->next(0, {})[0].question.context_characters, 5U);
  EXPECT_THAT(task->score(0, std::vector<Reply>{likely(-2, true)}).values, ElementsAre(-2, 1));
  const TaskResult result = task->result(std::vector<std::vector<double>>{{-1, 1}, {-3, 0}}, 0);
  EXPECT_THAT(score_named(result, "perplexity").value, DoubleEq(std::exp(2)));
  EXPECT_THAT(score_named(result, "acc").value, DoubleEq(0.5));
}

TEST(Harness, perplexity_of_whole_texts) {
  const Files files{{{"r.yaml",
                      "task: r\noutput_type: loglikelihood_rolling\ntest_split: test\ndoc_to_text: \"\"\n"
                      "doc_to_target: t\nnum_fewshot: 3\n"},
                     {"test.jsonl", "{\"t\":\"two words\"}\n"}}};
  const TaskPtr task = task_of(files, request_for({"r"}));
  const auto asked = task->next(0, {});
  ASSERT_EQ(asked.size(), 1U);
  EXPECT_EQ(asked[0].question.prompt, "two words");
  EXPECT_EQ(asked[0].question.context_characters, 0U);
  const Scored scored = task->score(0, std::vector<Reply>{likely(-18)});
  EXPECT_THAT(scored.values, ElementsAre(-18, 2, -18, 9, -18, 9));
  const TaskResult result = task->result(std::vector<std::vector<double>>{scored.values}, 0);
  EXPECT_THAT(score_named(result, "word_perplexity").value, DoubleEq(std::exp(9)));
  EXPECT_THAT(score_named(result, "byte_perplexity").value, DoubleEq(std::exp(2)));
  EXPECT_FALSE(score_named(result, "bits_per_byte").higher_is_better);
}

TEST(Harness, rows_that_cannot_be_asked_are_named) {
  Files files = choice_files("");
  files.files["data/val-00000-of-00001.jsonl"] =
      "{\"q\":\"a\",\"options\":[\"x\",\"y\"],\"label\":2}\n\n{\"options\":[\"x\"],\"label\":0}\n"
      "{\"q\":\"a\",\"options\":[],\"label\":0}\n{\"q\":\"a\",\"options\":[\"x\"],\"label\":\"z\"}\n[]\n";
  const std::string lines = faults_of(files, request_for({"c"}));
  EXPECT_THAT(lines, HasSubstr("val-00000-of-00001.jsonl:6: is no object"));
  files.files["data/val-00000-of-00001.jsonl"].resize(files.files["data/val-00000-of-00001.jsonl"].size() - 3);
  const std::string more = faults_of(files, request_for({"c"}));
  EXPECT_THAT(more, HasSubstr("jsonl:1: has the target 2, and 2 choices, which count from 0 (task c)"));
  EXPECT_THAT(more, HasSubstr("jsonl:3: cannot be rendered"));
  EXPECT_THAT(more, HasSubstr("jsonl:4: doc_to_choice gives no choices"));
  EXPECT_THAT(more, HasSubstr("jsonl:5: has the target \"z\", which is none of its choices"));
}

TEST(Harness, faults_of_the_request_and_the_data_set) {
  EvaluationRequest chat = request_for({"c"});
  chat.requests.chat = true;
  EXPECT_THAT(faults_of(choice_files(""), chat), HasSubstr("params.format: is chat, and c needs log-probabilities"));
  EXPECT_THAT(faults_of({{{"qa.yaml", std::string(qa)}}}, request_for({"qa"})),
              HasSubstr("qa.yaml:1: \"qa\" has no files of the split \"test\"; add test.jsonl"));
  EXPECT_THAT(faults_of(qa_files("dataset_kwargs: {data_files: {test: other.jsonl}}\n"), request_for({"qa"})),
              HasSubstr("qa.yaml:5: names other.jsonl, which the data set does not have"));
  EXPECT_THAT(faults_of(qa_files("gen_prefix: \"{{ q\"\n"), request_for({"qa"})),
              HasSubstr("qa.yaml:5: gen_prefix is no template"));
}

TEST(Harness, finds_a_splits_files) {
  struct Row {
    std::string_view file, more;
  };
  for (const Row& row :
       {Row{"test.json", ""}, Row{"data/test-00000-of-00001.jsonl", ""}, Row{"qa_test.jsonl", ""},
        Row{"sub/test.jsonl", "dataset_name: sub\n"}, Row{"d/sub/test.jsonl", "dataset_path: d\ndataset_name: sub\n"},
        Row{"any.jsonl", "dataset_path: json\ndataset_kwargs: {data_files: {test: ./any.jsonl}}\n"}}) {
    const Files files{
        {{"qa.yaml", std::string(qa) + std::string(row.more)}, {std::string(row.file), std::string(rows)}}};
    const TaskPtr task = task_of(files, request_for({"qa"}));
    ASSERT_NE(task, nullptr) << row.file;
    EXPECT_EQ(task->samples(), 4U) << row.file;
  }
}

TEST(Harness, says_what_is_not_loaded) {
  const Files files = qa_files("dataset_path: gsm8k\n");
  validate::Findings warnings;
  EXPECT_TRUE(make_harness_tasks(request_for({"qa"}), files.source(), &warnings));
  EXPECT_THAT(lines_of(warnings), HasSubstr("qa.yaml:5: dataset_path names \"gsm8k\", which is not loaded"));
}

TEST(Harness, every_fault_of_every_task_at_once) {
  const Files files{{{"a.yaml", "task: a\ntest_split: test\ndoc_to_text: \"{{q}}\"\nrepeats: 0\n"},
                     {"b.yaml", "task: b\nvalidation_split: val\ndoc_to_text: q\ndoc_to_target: \"{{a\"\n"},
                     {"test.jsonl", std::string(rows)}}};
  const std::string lines = faults_of(files, request_for({"a", "b", "c"}));
  EXPECT_THAT(lines, HasSubstr("a.yaml:1: \"a\" has no doc_to_target"));
  EXPECT_THAT(lines, HasSubstr("a.yaml:4: repeats is 0"));
  EXPECT_THAT(lines, HasSubstr("b.yaml:4: doc_to_target is no template"));
  EXPECT_THAT(lines, HasSubstr("\"b\" has no files of the split \"val\""));
  EXPECT_THAT(lines, HasSubstr("tasks[2]: \"c\" is no task"));
}

TEST(Harness, tasks_of_a_group_know_it) {
  Files files = qa_files("");
  files.files["g.yaml"] = "group: g\ntask: [qa]\naggregate_metric_list: [{metric: exact_match}]\n";
  const TaskPtr task = task_of(files, request_for({"g"}));
  const TaskResult result = task->result({}, 0);
  ASSERT_EQ(result.groups.size(), 1U);
  EXPECT_EQ(result.groups[0].name, "g");
}

}  // namespace
}  // namespace stackgate::evaluator::harness
