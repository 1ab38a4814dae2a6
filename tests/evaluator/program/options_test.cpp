#include <set>
#include <sstream>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "services/evaluator/program/program.hpp"
#include "services/evaluator/score/score_line.hpp"
#include "tests/reconcile/plan/planned_settings.hpp"

namespace stackgate::evaluator {
namespace options_tests {

using reconcile::tests::Environment;

constexpr crds::Kind kind = crds::Kind::stack_evaluator;

Environment planned(const reconcile::tests::Tree& object) {
  using namespace reconcile::tests;
  World world;
  world.observed.datastore_admin = "datastore-admin";
  Environment out = environment_of(plan_of(object, world), "Deployment");
  EXPECT_FALSE(out.empty());
  return out;
}

settings::Outcome read(const Environment& environment, const std::vector<const char*>& flags = {}) {
  auto out = reconcile::tests::read_settings(program(), environment, flags);
  for (auto& finding : check_options(out.values)) out.findings.push_back(std::move(finding));
  return out;
}

TEST(EvaluatorOptions, read_all_that_the_operators_plan_gives) {
  const std::set<std::string> known = reconcile::tests::variables_of(program());
  Environment given = planned(reconcile::tests::full(kind, "{}"));
  given.merge(planned(reconcile::tests::minimal(kind, "{}")));
  for (const auto& [name, value] : given) EXPECT_TRUE(known.contains(name) || !name.starts_with("STACKGATE_")) << name;
  // And what speaks of the cluster is given by the plan.
  std::set<std::string> of_the_cluster = {"STACKGATE_DATASTORE_URL",
                                          "DATASTORE_USERNAME",
                                          "DATASTORE_PASSWORD",
                                          "STACKGATE_ENTITYSTORE_URL",
                                          "STACKGATE_WORKFLOW_SERVER_URL",
                                          "STACKGATE_WORKFLOW_SERVICE_ACCOUNT",
                                          "STACKGATE_VECTOR_DB_URL",
                                          "STACKGATE_NAMESPACE",
                                          "STACKGATE_IMAGE",
                                          "STACKGATE_IMAGE_PULL_SECRETS",
                                          "STACKGATE_ENABLE_VALIDATION",
                                          "STACKGATE_EVAL_LOG_LEVEL",
                                          "STACKGATE_CONSOLE_LOG_LEVEL",
                                          "STACKGATE_LOG_HANDLERS"};
  for (const std::string& name : known)
    if (name.starts_with("STACKGATE_EVALUATION_IMAGE_")) of_the_cluster.insert(name);
  EXPECT_EQ(of_the_cluster.size(), 14U + 9U);
  for (const std::string& name : of_the_cluster) {
    EXPECT_TRUE(known.contains(name)) << name;
    EXPECT_TRUE(given.contains(name)) << name;
  }
}

TEST(EvaluatorOptions, of_a_planned_workload_are_right) {
  const auto got = read(planned(reconcile::tests::full(kind, "{}")));
  EXPECT_TRUE(got.findings.empty()) << settings::to_text(program(), got.findings);
  EXPECT_EQ(got.values.text("listen"), "0.0.0.0:8000");
  EXPECT_EQ(got.values.text("datastore-url"), "http://datastore:8000/v1/hf");
  const WorkflowOptions workflow = workflow_options(got.values);
  EXPECT_EQ(workflow.server_url, "https://argo-server.argo:2746");
  EXPECT_EQ(workflow.kubernetes_namespace, "given");
  EXPECT_EQ(workflow.images.at(static_cast<std::size_t>(Framework::bigcode_eval_harness)),
            "registry.example.com/eval/bigcode:0.3.1");
  EXPECT_EQ(workflow.images.at(static_cast<std::size_t>(Framework::agentic_eval)),
            "registry.example.com/eval/agentic:0.1.2");
  EXPECT_TRUE(workflow.images.at(0).empty());
  EXPECT_THAT(workflow.image_pull_secrets, testing::ElementsAre("registry-pull"));
}

TEST(EvaluatorOptions, of_init_containers_that_the_plan_makes_are_right) {
  std::size_t seen = 0;
  for (const auto& body :
       reconcile::tests::plan_of(reconcile::tests::full(kind, "{}"), reconcile::tests::World{}).bodies) {
    if (body["kind"] != "Deployment") continue;
    for (const auto& each : body["spec"]["template"]["spec"]["initContainers"]) {
      const auto command = each["args"].at(0).get<std::string>();
      const auto got = read(planned(reconcile::tests::full(kind, "{}")), {command.c_str()});
      EXPECT_TRUE(got.findings.empty()) << command << ": " << settings::to_text(program(), got.findings);
      EXPECT_EQ(got.values.command(), command);
      ++seen;
    }
  }
  EXPECT_EQ(seen, 1U);
}

TEST(EvaluatorOptions, take_the_workflow_servers_token_and_authority_from_variables) {
  const auto got = read({{"STACKGATE_WORKFLOW_SERVER_TOKEN", "t"},
                         {"STACKGATE_WORKFLOW_CA", "-----BEGIN CERTIFICATE-----\nA\n"},
                         {"STACKGATE_DATASTORE_URL", "http://datastore:8000/v1/hf"},
                         {"STACKGATE_DATASTORE_TOKEN", "hf"}});
  EXPECT_TRUE(got.findings.empty()) << settings::to_text(program(), got.findings);
  const WorkflowOptions workflow = workflow_options(got.values);
  EXPECT_EQ(workflow.token, "t");
  EXPECT_EQ(workflow.ca_text, "-----BEGIN CERTIFICATE-----\nA\n");
  EXPECT_EQ(workflow.datastore_url, "http://datastore:8000/v1/hf");
  EXPECT_EQ(workflow.datastore_token, "hf");
  EXPECT_FALSE(read({}, {"--workflow-server-token", "t"}).findings.empty())
      << "it would be seen in the list of processes";
}

TEST(EvaluatorOptions, turn_validation_off_by_either_name) {
  EXPECT_TRUE(wants_validation(read({}).values));
  EXPECT_FALSE(wants_validation(read({}, {"--validation", "off"}).values));
  EXPECT_FALSE(wants_validation(read({{"STACKGATE_VALIDATION", "off"}}).values));
  EXPECT_FALSE(wants_validation(read({{"STACKGATE_ENABLE_VALIDATION", "false"}}).values));
  EXPECT_TRUE(wants_validation(read({{"STACKGATE_ENABLE_VALIDATION", "false"}}, {"--validation", "on"}).values));
}

TEST(EvaluatorOptions, log_what_both_levels_let_through) {
  const auto level = [](const Environment& given, const std::vector<const char*>& flags = {}) {
    const auto got = read(given, flags);
    EXPECT_TRUE(got.findings.empty()) << settings::to_text(program(), got.findings);
    return log_level_of(got.values);
  };
  EXPECT_EQ(level({}), "info");
  EXPECT_EQ(level({{"STACKGATE_EVAL_LOG_LEVEL", "DEBUG"}}), "debug");
  EXPECT_EQ(level({{"STACKGATE_EVAL_LOG_LEVEL", "DEBUG"}, {"STACKGATE_CONSOLE_LOG_LEVEL", "INFO"}}), "info");
  EXPECT_EQ(level({{"STACKGATE_EVAL_LOG_LEVEL", "INFO"}, {"STACKGATE_CONSOLE_LOG_LEVEL", "DEBUG"}}), "info");
  EXPECT_EQ(level({{"STACKGATE_EVAL_LOG_LEVEL", "INFO"}}, {"--log-level", "debug"}), "debug");
  EXPECT_EQ(read({}, {"--eval-log-level", "loud"}).findings.at(0).path, "--eval-log-level");
  EXPECT_EQ(read({}, {"--log-handlers", "file"}).findings.at(0).path, "--log-handlers");
}

TEST(EvaluatorOptions, want_credentials_in_pairs) {
  EXPECT_EQ(read({{"DATASTORE_USERNAME", "ada"}}).findings.at(0).path, "--datastore-password-file");
  EXPECT_EQ(read({{"DATASTORE_PASSWORD", "x"}}).findings.at(0).path, "--datastore-username");
  EXPECT_TRUE(read({{"DATASTORE_USERNAME", "ada"}, {"DATASTORE_PASSWORD", "x"}}).findings.empty());
}

TEST(ScoreLines, answers_each_line_that_has_something_in_it) {
  std::istringstream in(
      "{\"id\":1,\"metric\":\"f1\",\"items\":[]}\n\n  \r\nnope\n{\"id\":2,\"metric\":\"f1\",\"items\":[]}");
  std::ostringstream out;
  EXPECT_TRUE(score_lines(in, out));
  std::vector<std::string> lines;
  std::istringstream read(out.str());
  for (std::string line; std::getline(read, line);) lines.push_back(line);
  ASSERT_EQ(lines.size(), 3U);
  EXPECT_TRUE(lines[0].starts_with(R"({"id":1,"scores")"));
  EXPECT_TRUE(lines[1].starts_with(R"({"id":null,"error")"));
  EXPECT_TRUE(lines[2].starts_with(R"({"id":2,"scores")"));
}

TEST(ScoreLines, says_that_a_line_is_too_long_and_goes_on) {
  std::istringstream in(std::string(longest_score_line + 10, 'x') + "\n{\"id\":2,\"metric\":\"f1\",\"items\":[]}\n");
  std::ostringstream out;
  EXPECT_TRUE(score_lines(in, out));
  EXPECT_THAT(out.str(), testing::HasSubstr("is longer than 64 MiB"));
  EXPECT_THAT(out.str(), testing::HasSubstr(R"({"id":2,"scores")"));
}

}  // namespace options_tests
}  // namespace stackgate::evaluator
