#include "services/evaluator/workflow/protocol/workflow_json.hpp"

#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <sstream>

#include <gmock/gmock.h>

#include "services/evaluator/workflow/protocol/workflow_object.hpp"
#include "services/kit/base/base64.hpp"
#include "services/kit/json/parse.hpp"
#include "services/kit/json/read.hpp"
#include "services/kit/yaml_writer/write.hpp"
#include "tests/support/paths.hpp"

namespace stackgate::evaluator {
namespace {

using testing::HasSubstr;
using testing::Not;

WorkflowOptions options() {
  WorkflowOptions out{
      .server_url = "https://argo:2746", .kubernetes_namespace = "models", .service_account = "workflows"};
  out.image_pull_secrets = {"registry-pull"};
  out.datastore_url = "http://datastore:8000/v1/hf";
  out.datastore_token = "hf-very-secret";
  for (const FrameworkProgram& each : framework_programs())
    out.images.at(static_cast<std::size_t>(each.framework)) =
        "registry.example.com/eval/" + std::string(to_string(each.framework)) + ":1";
  return out;
}

EvaluationRequest request() {
  EvaluationRequest out{.name = "mine", .framework = Framework::lm_eval_harness};
  out.target = {.url = "http://inference:8000/v1", .model = "llama", .api_key = "sk-very-secret"};
  out.judge = ModelEndpoint{.url = "http://judge/v1", .model = "j", .api_key = "sk-judge-secret"};
  out.tasks = {"gsm8k", "arc_easy"};
  out.num_fewshot = 5;
  out.requests.temperature = 0.5;
  out.rows.prompt = "{{ item.question }}";
  return out;
}

/// Written anew with UPDATE_GOLDEN=1; what changes is then read before it is committed.
class Golden : public testing::TestWithParam<FrameworkProgram> {};

TEST_P(Golden, template_is_as_it_was) {
  json::Document document;
  const std::string text = workflow_template(GetParam(), options());
  const std::string yaml = yaml::to_yaml(json::parse(text, document).value());
  const auto file = test::source_dir() / "tests/evaluator/workflow_protocol/golden" /
                    (std::string(to_string(GetParam().framework)) + ".yaml");
  if (std::getenv("UPDATE_GOLDEN") != nullptr) std::ofstream(file) << yaml;
  std::ostringstream wanted;
  wanted << std::ifstream(file).rdbuf();
  EXPECT_EQ(yaml, wanted.str()) << file;
}

INSTANTIATE_TEST_SUITE_P(Images, Golden, testing::ValuesIn(framework_programs().begin(), framework_programs().end()),
                         [](const auto& each) { return std::string(each.param.image_field); });

TEST(Workflow, is_the_template_with_values) {
  json::Document document;
  const std::string text = submit_body(request(), "eval-7", options());
  const json::Value body = json::parse(text, document).value();
  const json::Value* workflow = body.find("workflow");
  ASSERT_NE(workflow, nullptr);
  const WorkflowFacts facts = read_workflow(*workflow);
  EXPECT_EQ(facts.name, "eval-7");
  EXPECT_EQ(facts.evaluation, "eval-7");
  std::map<std::string, std::string> parameters;
  for (const json::Value& each : json::items(workflow, {"spec", "arguments", "parameters"}))
    parameters[std::string(json::text(&each, {"name"}))] = json::text(&each, {"value"});
  EXPECT_EQ(parameters["model"], "llama");
  EXPECT_EQ(parameters["tasks"], "gsm8k,arc_easy");
  EXPECT_EQ(parameters["num-fewshot"], "5");
  EXPECT_EQ(parameters["limit"], "");
  EXPECT_EQ(parameters["gen-kwargs"], "temperature=0.5");
  EXPECT_EQ(parameters["model-args"],
            "model=llama,base_url=http://inference:8000/v1/completions,num_concurrent=8,max_retries=5,timeout=120");
  EXPECT_THAT(base64::decode(parameters["request"]).value_or(""), HasSubstr("item.question"));
}

TEST(Workflow, never_has_a_key) {
  for (const std::string& text :
       {submit_body(request(), "eval-7", options()), submit_template_body(request(), "eval-7", options())}) {
    EXPECT_THAT(text, Not(HasSubstr("secret\"")));
    EXPECT_THAT(text, Not(HasSubstr("sk-")));
    json::Document document;
    const json::Value body = json::parse(text, document).value();
    for (const json::Value& each : json::items(&body, {"workflow", "spec", "arguments", "parameters"}))
      EXPECT_THAT(base64::decode(json::text(&each, {"value"})).value_or(""), Not(HasSubstr("sk-")));
  }
  EXPECT_THAT(
      submit_body(request(), "eval-7", options()),
      HasSubstr(
          R"({"name":"OPENAI_API_KEY","valueFrom":{"secretKeyRef":{"name":"stackgate-evaluator-keys","key":"model","optional":true}}})"));
}

TEST(Workflow, says_where_results_may_be_left) {
  WorkflowOptions with = options();
  with.results_repository = "ada/results";
  EXPECT_THAT(
      submit_body(request(), "eval-7", with),
      HasSubstr(
          R"({"name":"STACKGATE_RESULTS","value":"hf://datasets/ada/results/{{workflow.parameters.evaluation}}"})"));
  EXPECT_EQ(results_place(with, "eval-7"), "hf://datasets/ada/results/eval-7");
  EXPECT_EQ(results_place(options(), "eval-7"), "");
}

TEST(Workflow, of_a_template_that_is_there_has_parameters_and_a_label) {
  WorkflowOptions of_templates = options();
  of_templates.template_prefix = "eval";
  const std::string text = submit_template_body(request(), "eval-7", of_templates);
  EXPECT_THAT(text, HasSubstr(R"("resourceKind":"WorkflowTemplate","resourceName":"eval-lm-eval-harness")"));
  EXPECT_THAT(text,
              HasSubstr(R"("name":"eval-7","labels":"stackgate.dev/evaluation=eval-7","serviceAccount":"workflows")"));
  EXPECT_THAT(text, HasSubstr(R"("model=llama")"));
}

TEST(Workflow, names_are_labels_of_DNS) {
  EXPECT_EQ(workflow_name("eval-1"), "eval-1");
  EXPECT_EQ(workflow_name("Eval_1"), workflow_name("Eval_1"));
  EXPECT_THAT(workflow_name("Eval_1"), testing::MatchesRegex("evaluation-[0-9a-f]{16}"));
  EXPECT_LE(workflow_name(std::string(300, 'a')).size(), 63U);
  EXPECT_NE(workflow_name("Eval_1"), workflow_name("Eval_2"));
}

TEST(Variables, say_what_programs_cannot_be_told) {
  EvaluationRequest bad = request();
  EXPECT_TRUE(check_variables(bad, true).empty());
  bad.target.model = "a,b={{x}}";
  const auto findings = check_variables(bad, true);
  ASSERT_EQ(findings.size(), 2U);
  EXPECT_EQ(findings[0].path, "model");
  EXPECT_THAT(findings[1].problem, HasSubstr("{{"));
  EXPECT_EQ(check_variables(bad, false).size(), 1U);
  bad.target.model.clear();
  EXPECT_EQ(check_variables(bad, true)[0].problem, "is missing: lm-eval-harness has to name it");
}

}  // namespace
}  // namespace stackgate::evaluator
