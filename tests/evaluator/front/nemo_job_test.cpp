// NeMo's jobs as requests of this service.
#include "services/evaluator/front/nemo_job.hpp"

#include <gmock/gmock.h>

#include "services/evaluator/api/evaluation_request.hpp"
#include "services/kit/json/parse.hpp"

namespace stackgate::evaluator {
namespace nemo_job_tests {

using testing::ElementsAre;
using testing::HasSubstr;

constexpr std::string_view model =
    R"("target":{"type":"model","model":{"api_endpoint":{"url":"http://m/v1/chat/completions","model_id":"llama"}}})";

struct Read {
  EvaluationRequest request{};
  std::vector<std::string> faults{};  // "path: problem"
};
Read read(const std::string& text) {
  Read out;
  json::Document document, own_document;
  const auto keep = [&out](const validate::Findings& findings) {
    for (const validate::Finding& each : findings) out.faults.push_back(each.path + ": " + each.problem);
  };
  const auto root = json::parse(text, document);
  EXPECT_TRUE(root) << text;
  if (!root) return out;
  const auto body = own_body(*root);
  if (!body) {
    keep(body.error());
    return out;
  }
  const auto own = json::parse(*body, own_document);
  EXPECT_TRUE(own) << *body;
  validate::Findings warnings;
  auto request = own ? read_evaluation(*own, warnings) : std::unexpected(validate::Findings());
  if (request)
    out.request = std::move(*request);
  else
    keep(request.error());
  return out;
}
Read job(std::string_view target, std::string_view config) {
  return read(R"({"name":"j",)" + std::string(target) + R"(,"config":)" + std::string(config) + "}");
}
/// Of a "custom" configuration with one task.
Read task(std::string_view target, std::string_view task) {
  return job(target, R"({"type":"custom","tasks":{"qa":)" + std::string(task) + "}}");
}
constexpr std::string_view rows = R"("target":{"type":"rows","rows":[{"q":"2+2","a":"4","said":"4"}]})";

TEST(NemoJob, becomes_a_body_of_ours) {
  const Read found =
      read(R"({"name":"j","target":{"type":"model","model":{"api_endpoint":{"url":"http://m/v1/chat/completions",
      "model_id":"llama","api_key":"sk-1","format":"openai"}}},
      "config":{"type":"similarity_metrics","params":{"limit_samples":5,"parallelism":2,"prompt":"{{ item.q }}",
      "reference":"{{ item.a }}"},"tasks":{"mine":{"dataset":{"files_url":"hf://datasets/ada/qa"}}}}})");
  ASSERT_THAT(found.faults, ElementsAre());
  EXPECT_EQ(found.request.target.url, "http://m/v1");
  EXPECT_EQ(found.request.target.api_key, "sk-1");
  EXPECT_EQ(found.request.framework, Framework::similarity_metrics);
  EXPECT_EQ(found.request.limit, 5U);
  EXPECT_EQ(found.request.dataset.repository, "ada/qa");
  EXPECT_TRUE(found.request.requests.chat);
}

TEST(NemoJob, asks_and_holds_answers_against_templates) {
  const Read found = task(model, R"({"type":"completion","dataset":{"files_url":"hf://datasets/ada/qa"},
      "params":{"template":{"messages":[{"role":"user","content":"{{item.q}}"}],"max_tokens":20,"temperature":0.5}},
      "metrics":{"bleu":{"type":"bleu","params":{"references":["{{item.a}}","{{ item.b }}"]}},
        "same":{"type":"string-check","params":{"check":["{{item.a}}","equals","{{ sample.output_text }}"]}},
        "begins":{"type":"string-check","params":{"check":["{{sample.output_text}}","startswith","{{item.a}}"]}}}})");
  ASSERT_THAT(found.faults, ElementsAre());
  const EvaluationRequest& request = found.request;
  EXPECT_EQ(request.framework, Framework::similarity_metrics);
  EXPECT_THAT(request.tasks, ElementsAre("qa"));
  EXPECT_EQ(request.rows.prompt, "{{item.q}}");
  EXPECT_EQ(request.rows.reference, "{{ [(item.a), ( item.b )] }}");
  EXPECT_THAT(request.rows.metrics, ElementsAre("bleu"));
  EXPECT_EQ(request.requests.max_tokens, 20U);
  EXPECT_EQ(request.requests.temperature, 0.5);
  EXPECT_FALSE(request.requests.chat);
  ASSERT_EQ(request.rows.checks.size(), 2U);
  EXPECT_EQ(request.rows.checks[0].operation, "equals");
  EXPECT_EQ(request.rows.checks[0].reference, "{{item.a}}");
  EXPECT_EQ(request.rows.checks[1].operation, "starts with");
}

TEST(NemoJob, has_rows_and_data_sets_with_answers_as_targets) {
  constexpr std::string_view data = R"({"type":"data","metrics":{"f1":{"type":"f1","params":
      {"ground_truth":"{{item.a}}","prediction":"{{item.said}}"}},
      "same":{"type":"string-check","params":{"check":["{{item.said}}","equals","{{item.a}}"]}}}})";
  const Read inline_rows = task(rows, data);
  ASSERT_THAT(inline_rows.faults, ElementsAre());
  EXPECT_EQ(inline_rows.request.inline_rows, "{\"q\":\"2+2\",\"a\":\"4\",\"said\":\"4\"}\n");
  EXPECT_EQ(inline_rows.request.rows.response, "{{item.said}}");
  EXPECT_EQ(inline_rows.request.rows.prompt, "");
  EXPECT_EQ(inline_rows.request.target.url, "");
  EXPECT_FALSE(asks_model(inline_rows.request));
  const Read dataset = task(R"("target":{"type":"dataset","dataset":{"files_url":"hf://datasets/ada/qa"}})", data);
  ASSERT_THAT(dataset.faults, ElementsAre());
  EXPECT_EQ(dataset.request.dataset.repository, "ada/qa");
}

TEST(NemoJob, has_a_judge_of_rows) {
  const Read found = task(rows, R"x({"type":"data","metrics":{"j":{"type":"llm-judge","params":{
      "model":{"api_endpoint":{"url":"http://judge/v1","model_id":"big","api_key":"sk-2"}},
      "template":{"messages":[{"role":"system","content":"Rate."},{"role":"user","content":"{{item.said}}"}]},
      "scores":{"a":{"type":"int","parser":{"type":"regex","pattern":"A: (\\d+)"}},
                "b":{"type":"int","parser":{"type":"json","json_path":"out.b"},"minimum":1,"maximum":5}}}}}})x");
  ASSERT_THAT(found.faults, ElementsAre());
  EXPECT_EQ(found.request.framework, Framework::llm_as_judge);
  EXPECT_EQ(found.request.judge->url, "http://judge/v1");
  EXPECT_EQ(found.request.judge->api_key, "sk-2");
  EXPECT_EQ(found.request.rows.judge_prompt, "Rate.\n\n{{item.said}}");
  ASSERT_EQ(found.request.rows.scores.size(), 2U);
  EXPECT_EQ(found.request.rows.scores[0].pattern, "A: (\\d+)");
  EXPECT_GT(found.request.rows.scores[0].most, 1e6);  // without bounds of its own
  EXPECT_EQ(found.request.rows.scores[1].most, 5);
  EXPECT_THAT(found.request.rows.scores[1].pattern, HasSubstr("\"b\""));
}

TEST(NemoJob, has_pipelines_benchmarks_and_calls_of_tools) {
  const Read retriever =
      job(R"("target":{"type":"retriever","retriever":{"pipeline":{
      "query_embedding_model":{"api_endpoint":{"url":"http://e/v1/embeddings","model_id":"m"}},
      "index_embedding_model":{"api_endpoint":{"url":"http://e/v1/embeddings","model_id":"m"}},"top_k":7}}})",
          R"({"type":"retriever","tasks":{"t":{"dataset":{"files_url":"hf://datasets/ada/beir"}}}})");
  ASSERT_THAT(retriever.faults, ElementsAre());
  EXPECT_EQ(retriever.request.embeddings->url, "http://e/v1");
  EXPECT_EQ(retriever.request.retrieval.top_k, 7U);
  const Read gsm = job(model, R"({"type":"gsm8k","params":{"extra":{"num_fewshot":5}}})");
  ASSERT_THAT(gsm.faults, ElementsAre());
  EXPECT_EQ(gsm.request.framework, Framework::lm_eval_harness);
  EXPECT_THAT(gsm.request.tasks, ElementsAre("gsm8k"));
  EXPECT_EQ(gsm.request.num_fewshot, 5U);
  const Read calls = task(model, R"({"type":"chat-completion","dataset":{"files_url":"hf://datasets/ada/tools"},
      "params":{"template":{"messages":[{"role":"user","content":"x"}]}},
      "metrics":{"calls":{"type":"tool-calling","params":{"tool_calls_ground_truth":"{{item.tool_calls}}"}}}})");
  ASSERT_THAT(calls.faults, ElementsAre());
  EXPECT_EQ(calls.request.framework, Framework::bfcl);
}

TEST(NemoJob, names_what_it_is_not) {
  const auto paths = [](const Read& found) {
    std::vector<std::string> out;
    for (const std::string& each : found.faults) out.push_back(each.substr(0, each.find(':')));
    return out;
  };
  EXPECT_THAT(read(R"({"target":"ns/target","config":"ns/config"})").faults,
              ElementsAre(HasSubstr("target: names a stored target"), HasSubstr("config: names a stored")));
  EXPECT_THAT(paths(job(R"("target":{"type":"rows"})", R"({"type":"mt-bench"})")), ElementsAre("target.rows"));
  EXPECT_THAT(paths(job(R"("target":{"type":"cached_outputs"})", R"({"type":"mt-bench"})")),
              ElementsAre("target.type"));
  EXPECT_THAT(paths(job(R"("target":{"type":"model","model":{}})", R"({"type":"custom"})")),
              ElementsAre("target.model.api_endpoint.url"));
  EXPECT_THAT(
      job(R"("target":{"type":"retriever","retriever":{"pipeline":{
      "query_embedding_model":{"api_endpoint":{"url":"http://e/v1"}},
      "index_embedding_model":{"api_endpoint":{"url":"http://f/v1"}},"reranker_model":{}}}})",
          R"({"type":"retriever"})")
          .faults,
      ElementsAre(HasSubstr("index_embedding_model: is not the model"), HasSubstr("reranker_model: is no stage")));
  EXPECT_THAT(read(R"({"nome":"j","target":{},"config":{"type":"rag"}})").faults,
              ElementsAre(HasSubstr("nome: is no member"), HasSubstr("target.type: ")));
}

TEST(NemoJob, names_what_of_a_task_it_cannot_do) {
  const auto of = [](std::string_view target, std::string_view members) {
    return task(target, R"({"dataset":{"files_url":"hf://datasets/a/b"},"params":{"template":{"prompt":"p"}},)" +
                            std::string(members) + "}")
        .faults;
  };
  const std::string at = "config.tasks.qa.";
  EXPECT_THAT(of(model, R"("metrics":{"m":{"type":"bert-score"}})"), ElementsAre(HasSubstr(at + "metrics.m.type")));
  EXPECT_THAT(of(model, R"("metrics":{"m":{"type":"bleu"}})"),
              ElementsAre(HasSubstr("names nothing that is expected")));
  EXPECT_THAT(of(model, R"("metrics":{"m":{"type":"bleu","params":{"references":["{{item.a}}","{{item.b}}."]}}})"),
              ElementsAre(HasSubstr("metrics.m.params.references: has several")));
  EXPECT_THAT(of(model, R"("metrics":{"m":{"type":"f1","params":{"ground_truth":"{{item.a}}"}},
                           "n":{"type":"em","params":{"ground_truth":"{{item.b}}"}}})"),
              ElementsAre(HasSubstr("expects something else")));
  EXPECT_THAT(of(model, R"("metrics":{"m":{"type":"string-check","params":{"check":["{{item.a}}","contains",
                           "{{sample.output_text}}"]}}})"),
              ElementsAre(HasSubstr("is not what the model answers")));
  EXPECT_THAT(of(model, R"("metrics":{"m":{"type":"string-check","params":{"check":["a","like","b"]}}})"),
              ElementsAre(HasSubstr("is no comparison")));
  EXPECT_THAT(of(model, R"("type":"embedding","metrics":{"f1":{"params":{"ground_truth":"a"}}})"),
              ElementsAre(HasSubstr("\"embedding\" is none")));
  EXPECT_THAT(
      task(rows, R"({"type":"completion","metrics":{"f1":{"params":{"ground_truth":"a","prediction":"b"}}}})").faults,
      ElementsAre(HasSubstr("asks a model, and the target is none")));
  EXPECT_THAT(task(rows, R"({"type":"data","metrics":{"f1":{"params":{"ground_truth":"a"}}}})").faults,
              ElementsAre(HasSubstr("what a model answers, and none is asked")));
  EXPECT_THAT(task(model, R"({"params":{"template":{"messages":[{"role":"user","content":"a"},{"role":"assistant",
                             "content":"b"}],"stop":["x"]}},"metrics":{"f1":{"params":{"ground_truth":"a"}}}})")
                  .faults,
              ElementsAre(HasSubstr("more than one message"), HasSubstr("template.stop: is not sent")));
  EXPECT_THAT(of(model, R"("metrics":{"f1":{"params":{"ground_truth":"a"}},"j":{"type":"llm-judge","params":{
      "model":{"api_endpoint":{"url":"http://j/v1"}},"template":{"prompt":"p"},
      "scores":{"s":{"parser":{"type":"rubric"}}}}}})"),
              ElementsAre(HasSubstr("scores.s.parser: is none"), HasSubstr("a judge and metrics of similarity")));
}

}  // namespace nemo_job_tests
}  // namespace stackgate::evaluator
