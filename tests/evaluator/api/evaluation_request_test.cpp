#include "services/evaluator/api/evaluation_request.hpp"

#include <algorithm>
#include <string>

#include <gmock/gmock.h>

#include "services/evaluator/api/evaluation_schema.hpp"
#include "services/kit/json/parse.hpp"

namespace stackgate::evaluator {
namespace {

using testing::ElementsAre;
using testing::IsEmpty;

struct Read {
  std::expected<EvaluationRequest, validate::Findings> request;
  validate::Findings warnings{};
};

Read read(std::string_view text) {
  json::Document document;
  const auto body = json::parse(text, document);
  if (!body) throw std::runtime_error(body.error().message);
  validate::Findings warnings;
  auto request = read_evaluation(*body, warnings);
  return {std::move(request), std::move(warnings)};
}

/// "path: problem" of each fault, in no order.
std::vector<std::string> faults(std::string_view text) {
  std::vector<std::string> out;
  if (const auto found = read(text).request; !found)
    for (const validate::Finding& each : found.error()) {
      EXPECT_FALSE(each.fix.empty()) << each.path << each.problem;
      out.push_back(each.path + ": " + each.problem);
    }
  std::ranges::sort(out);
  return out;
}

constexpr std::string_view base = R"("name":"e1","model_endpoint":"http://m:8000/v1","framework":)";
std::string of(std::string_view framework, std::string_view more) {
  return "{" + std::string(base) + '"' + std::string(framework) + "\"," + std::string(more) + "}";
}
std::string custom(std::string_view more) {
  return "{" + std::string(base) + R"("custom","tasks":["t"],"dataset":"ada/qa")" + std::string(more) + "}";
}

TEST(EvaluationRequest, has_defaults) {
  const auto found = read(custom("")).request;
  ASSERT_TRUE(found);
  EXPECT_EQ(found->name, "e1");
  EXPECT_EQ(found->target.url, "http://m:8000/v1");
  EXPECT_THAT(found->tasks, ElementsAre("t"));
  EXPECT_EQ(found->dataset.repository, "ada/qa");
  EXPECT_EQ(found->seed, 1234U);
  EXPECT_EQ(found->requests.parallelism, 8U);
  EXPECT_FALSE(found->requests.chat);
  EXPECT_FALSE(found->num_fewshot);
}

TEST(EvaluationRequest, reads_every_member) {
  const auto found = read(R"body({"name":"j","model_endpoint":"https://m/v1/","model":"llama","api_key":"sk-1",
    "framework":"llm-as-judge","dataset":"hf://datasets/ada/qa/test.jsonl@v1","seed":7,"limit":10,"description":"d",
    "judge":{"model_endpoint":"http://judge/v1","model":"big","api_key":"sk-2"},
    "params":{"parallelism":4,"request_timeout":9,"max_retries":1,"max_tokens":33,"temperature":0.5,"top_p":0.9,
      "prompt":"{{ item.q }}","judge_prompt":"{{ sample.output_text }}","format":"chat",
      "scores":{"rating":{"pattern":"(\\d+)","minimum":1,"maximum":5}}}})body")
                         .request;
  ASSERT_TRUE(found);
  EXPECT_EQ(found->target.url, "https://m/v1");
  EXPECT_EQ(found->target.api_key, "sk-1");
  EXPECT_EQ(found->judge->api_key, "sk-2");
  EXPECT_EQ(found->dataset.path, "test.jsonl");
  EXPECT_EQ(found->dataset.revision, "v1");
  EXPECT_EQ(found->requests.max_tokens, 33U);
  EXPECT_DOUBLE_EQ(*found->requests.top_p, 0.9);
  EXPECT_TRUE(found->requests.chat);
  EXPECT_THAT(found->tasks, ElementsAre("llm-as-judge"));
  ASSERT_EQ(found->rows.scores.size(), 1U);
  EXPECT_DOUBLE_EQ(found->rows.scores[0].most, 5);
}

TEST(EvaluationRequest, is_written_and_read_again_without_keys) {
  const auto first = read(R"({"name":"j","model_endpoint":"https://m/v1","model":"llama","api_key":"sk-1",
    "framework":"similarity-metrics","dataset":"ada/qa@v1","num_fewshot":0,
    "params":{"response":"{{ item.a }}","reference":"{{ item.b }}","temperature":0}})")
                         .request;
  ASSERT_TRUE(first);
  const std::string text = to_json(*first);
  EXPECT_FALSE(text.contains("sk-1"));
  EXPECT_TRUE(text.contains(R"("api_key":"******")"));
  const auto again = read(text).request;
  ASSERT_TRUE(again) << text;
  EXPECT_EQ(to_json(*again), text);
  EXPECT_EQ(again->num_fewshot, 0U);
}

TEST(EvaluationRequest, faults_of_keys_and_urls_show_nothing_of_them) {
  const std::string secret = "sk-1" + std::string(5'000, 'x');
  for (const std::string& member :
       {R"("api_key":")" + secret, R"("judge":{"model_endpoint":"http://j/v1","api_key":")" + secret,
        R"("judge":{"model_endpoint":"http://u:)" + secret + "@j/v1"}) {
    const bool is_judge = member.starts_with("\"judge\"");
    const auto found = read(of("llm-as-judge", member + (is_judge ? "\"}" : "\""))).request;
    ASSERT_FALSE(found);
    bool has_length = false;
    for (const validate::Finding& each : found.error()) {
      has_length = has_length || each.rule == "schema-length";
      EXPECT_FALSE(validate::to_line(each).contains("sk-1")) << each.path;
    }
    EXPECT_TRUE(has_length) << member.substr(0, 60);
  }
}

TEST(EvaluationRequest, has_templates_as_long_as_its_schema_has_them) {
  const auto with = [](std::size_t size) {
    return faults(of("similarity-metrics",
                     R"("dataset":"ada/qa","params":{"reference":"r","prompt":")" + std::string(size, 'x') + R"("})"));
  };
  EXPECT_THAT(with(65'536), ElementsAre());
  EXPECT_THAT(with(65'537), ElementsAre(testing::StartsWith("params.prompt: ")));
}

TEST(EvaluationRequest, has_rows_of_its_own_and_asks_no_model_for_their_answers) {
  const auto found = read(R"({"name":"j","framework":"similarity-metrics","rows":[{"a":"x\ny", "b": [1]},{}],
    "params":{"response":"{{ item.a }}","reference":"{{ item.b }}"}})");
  ASSERT_TRUE(found.request);
  EXPECT_EQ(found.request->inline_rows, "{\"a\":\"x\\ny\",\"b\":[1]}\n{}\n");
  EXPECT_FALSE(asks_model(*found.request));
  const std::string text = to_json(*found.request);
  EXPECT_TRUE(text.contains(R"("rows":[{"a":"x\ny","b":[1]},{}])")) << text;
  EXPECT_FALSE(text.contains("model_endpoint"));
  EXPECT_EQ(to_json(read(text).request.value()), text);
}

TEST(EvaluationRequest, of_every_framework_is_written_and_read_again) {
  for (const std::string& text :
       {of("rag", R"("dataset":"ada/qa","embeddings":{"model_endpoint":"http://e/v1","model":"m"},
           "judge":{"model_endpoint":"http://j/v1"},"params":{"index":"hnsw","top_k":3,"chunk_size":100,
           "chunk_overlap":10,"cutoffs":[10,1]})"),
        of("mt-bench",
           R"("dataset":"ada/qa","judge":{"model_endpoint":"http://j/v1"},"params":{"baseline":"b.jsonl"})"),
        of("bigcode-eval-harness",
           R"("dataset":"ada/qa","tasks":["t"],"params":{"programs":5,"ks":[5,1],"run_seconds":3})"),
        of("similarity-metrics", R"("dataset":"ada/qa","params":{"response":"r",
           "checks":{"c":{"operation":"not contains","reference":"x"}}})"),
        of("similarity-metrics",
           R"("dataset":"ada/qa","params":{"response":"r","reference":"x","metrics":["em","f1"]})"),
        of("bfcl", R"("dataset":"ada/qa","params":{"prompt":"r"})"), of("agentic-eval", R"("limit":3)")}) {
    const auto first = read(text).request;
    ASSERT_TRUE(first) << text;
    const auto again = read(to_json(*first)).request;
    ASSERT_TRUE(again) << to_json(*first);
    EXPECT_EQ(to_json(*again), to_json(*first));
  }
  const auto rag = read(of("rag", R"("dataset":"ada/qa","embeddings":{"model_endpoint":"http://e/v1","api_key":"sk-3"},
      "params":{"index":"vector-db","top_k":3,"chunk_size":100,"chunk_overlap":10,"cutoffs":[10,1]})"))
                       .request;
  ASSERT_TRUE(rag);
  EXPECT_EQ(rag->embeddings->api_key, "sk-3");
  EXPECT_FALSE(to_json(*rag).contains("sk-3"));
  EXPECT_EQ(rag->retrieval.index, RetrievalSettings::Index::vector_db);
  EXPECT_EQ(rag->retrieval.top_k, 3U);
  EXPECT_EQ(rag->retrieval.chunk_overlap, 10U);
  EXPECT_THAT(rag->retrieval.cutoffs, ElementsAre(1, 10));
}

TEST(EvaluationRequest, is_computed_here_when_its_data_set_is_named) {
  const auto engine = [](const std::string& text) { return read(text).request.value().engine; };
  EXPECT_EQ(engine(of("lm-eval-harness", R"("tasks":["mmlu"])")), Engine::workflow);
  EXPECT_EQ(engine(of("lm-eval-harness", R"("tasks":["mmlu"],"dataset":"ada/qa")")), Engine::native);
  EXPECT_EQ(engine(of("lm-eval-harness", R"("tasks":["mmlu"],"dataset":"ada/qa","params":{"engine":"workflow"})")),
            Engine::workflow);
  EXPECT_EQ(engine(of("bfcl", R"("limit":1)")), Engine::workflow);
  EXPECT_EQ(engine(of("bfcl", R"("dataset":"ada/qa")")), Engine::native);
}

TEST(EvaluationRequest, names_every_fault_at_once) {
  EXPECT_THAT(faults(R"({"name":"E_1","model_endpoint":"http://u:pw@m/v1","framework":"custom","tasks":["a","a","--x"],
                 "num_fewshto":1,"limit":0,"params":{"temperatur_":1}})"),
              ElementsAre(testing::StartsWith("dataset: is missing"), testing::StartsWith("limit: "),
                          testing::StartsWith("model_endpoint: "), testing::StartsWith("name: "),
                          testing::StartsWith("num_fewshto: "), testing::StartsWith("params.temperatur_: "),
                          R"(tasks[1]: names "a" once more)", "tasks[2]: is no name of a task"));
}

TEST(EvaluationRequest, refuses_by_rule) {
  struct Row {
    std::string body, fault;
  };
  const std::string similar = "{" + std::string(base) + R"("similarity-metrics","dataset":"ada/qa","params":{)";
  const std::string large = R"({"a":")" + std::string(60'000, 'x') + R"("})";
  const std::string judged = "{" + std::string(base) + R"("llm-as-judge","dataset":"ada/qa",)";
  for (const Row& row : {
           Row{custom(R"(,"judge":{"model_endpoint":"http://j/v1"})"), "judge: means nothing to custom"},
           Row{custom(R"(,"params":{"prompt":"x"})"), "params.prompt: means nothing to custom"},
           Row{custom(R"(,"api_key":"a b")"), "api_key: has a character that no key has"},
           Row{"{" + std::string(base) + R"("custom","dataset":"ada/qa"})", "tasks: is missing"},
           Row{"{" + std::string(base) + R"("custom","tasks":["t"],"dataset":"qa"})", "dataset: names no repository"},
           Row{similar + R"("prompt":"p","response":"r","reference":"x"}})",
               R"(params: has both "prompt" and "response")"},
           Row{similar + R"("reference":"x"}})", R"(params: has neither "prompt" nor "response")"},
           Row{similar + R"("prompt":"p"}})", "params.reference: is missing"},
           Row{judged + R"("params":{"prompt":"p","judge_prompt":"j","scores":{"s":{"pattern":"x"}}}})",
               "judge: is missing"},
           Row{judged + R"("judge":{"model_endpoint":"http://j/v1"},"params":{"prompt":"p","judge_prompt":"j",
                 "scores":{"s":{"pattern":"x","minimum":3,"maximum":3}}}})",
               "params.scores.s.maximum: must be greater than the minimum"},
           Row{custom(R"(,"embeddings":{"model_endpoint":"http://e/v1"})"), "embeddings: means nothing to custom"},
           Row{custom(R"(,"params":{"engine":"workflow"})"), "params.engine: no workflow runs custom"},
           Row{custom(R"(,"params":{"top_k":3})"), "params.top_k: means nothing to custom"},
           Row{custom(R"(,"params":{"ks":[1]})"), "params.ks: means nothing to custom"},
           Row{custom(R"(,"params":{"baseline":"x"})"), "params.baseline: means nothing to custom"},
           Row{of("retriever", R"("dataset":"ada/qa")"), "embeddings: is missing"},
           Row{of("mt-bench", R"("dataset":"ada/qa")"), "judge: is missing"},
           Row{of("mt-bench", R"("params":{"engine":"native"},"judge":{"model_endpoint":"http://j/v1"})"),
               "dataset: is missing"},
           Row{of("retriever", R"("params":{"chunk_size":5,"chunk_overlap":5})"),
               "params.chunk_overlap: must be less than params.chunk_size"},
           Row{of("bigcode-eval-harness", R"("tasks":["t"],"params":{"ks":[10,1],"programs":5})"),
               "params.ks: has 10, but only 5 programs are asked for"},
           Row{R"({"name":"e","framework":"custom","tasks":["t"],"dataset":"a/b"})", "model_endpoint: is missing"},
           Row{of("bfcl", R"("rows":[{"a":1}],"dataset":"a/b")"), "rows: is given beside a data set"},
           Row{of("bfcl", R"("rows":[{"a":1}],"params":{"engine":"workflow"})"),
               "rows: is not passed on to a workflow"},
           Row{of("bfcl", R"("rows":[{"a":1}],"tasks":["a","b"])"), "tasks: has several, and rows are of one"},
           Row{of("bfcl", R"("rows":[)" + large + "," + large + "," + large + "," + large + "," + large + "]"),
               "rows: has more than 256 KiB"},
           Row{"{" + std::string(base) + R"("custom","tasks":["t"],"rows":[{"a":1}]})",
               "rows: means nothing to custom"},
           Row{similar + R"("prompt":"p","checks":{"c":{"operation":"equals","reference":"x"}},"metrics":["em"]}})",
               "params.reference: is missing"},
       }) {
    const auto found = faults(row.body);
    EXPECT_THAT(found, ElementsAre(row.fault)) << row.body;
  }
}

TEST(EvaluationRequest, of_an_unknown_framework_has_that_fault_alone) {
  EXPECT_THAT(faults(of("mmlu", R"("limit":1)")), ElementsAre(testing::StartsWith("framework: ")));
}

TEST(EvaluationRequest, takes_endpoints_that_end_in_v1) {
  const auto of = [](std::string_view url) {
    return faults(R"({"name":"e","framework":"custom","tasks":["t"],"dataset":"a/b","model_endpoint":")" +
                  std::string(url) + "\"}");
  };
  EXPECT_THAT(of("http://m/v1/"), IsEmpty());
  EXPECT_THAT(of("https://m:1/openai/v1"), IsEmpty());
  EXPECT_THAT(of("http://m/v1/chat/completions"), ElementsAre("model_endpoint: must end in /v1"));
  EXPECT_THAT(of("http://m"), ElementsAre("model_endpoint: must end in /v1"));
  EXPECT_THAT(of("http://m/v1?key=1"), ElementsAre("model_endpoint: has a query or a fragment"));
  EXPECT_THAT(of("ftp://m/v1"), testing::SizeIs(1));
}

TEST(EvaluationRequest, warns_of_a_judge_that_judges_itself) {
  const auto found = read("{" + std::string(base) + R"("llm-as-judge","dataset":"ada/qa",
    "judge":{"model_endpoint":"http://m:8000/v1"},
    "params":{"prompt":"p","judge_prompt":"j","scores":{"s":{"pattern":"x"}}}})");
  EXPECT_TRUE(found.request);
  EXPECT_THAT(found.warnings, testing::SizeIs(1));
}

TEST(EvaluationSchema, has_every_framework) {
  for (const std::string_view name : framework_names) {
    EXPECT_TRUE(evaluation_schema.contains('"' + std::string(name) + '"')) << name;
    EXPECT_EQ(to_string(*framework_named(name)), name);
  }
}

}  // namespace
}  // namespace stackgate::evaluator
