#include <gtest/gtest.h>

#include "tests/reconcile/plan/stack_plans.hpp"

namespace stackgate::reconcile::tests {
namespace stack_evaluator {

constexpr crds::Kind kind = crds::Kind::stack_evaluator;

TEST(StackEvaluatorPlan, WorkflowPodsGetTheSpecificationsRightsAndNoMore) {
  const Planned planned = plan_of(minimal(kind));
  EXPECT_EQ(planned.child(ChildType::role, "evaluator-workflows")["rules"],
            Tree::parse(R"([{"apiGroups":[""],"resources":["pods","pods/log"],
                             "verbs":["get","watch","list","create","delete"]},
                            {"apiGroups":[""],"resources":["secrets"],"verbs":["get"]}])"));
  const Tree binding = planned.child(ChildType::role_binding, "evaluator-workflows");
  EXPECT_EQ(binding["subjects"],
            Tree::parse(R"([{"kind":"ServiceAccount","name":"evaluator-workflow","namespace":"team"}])"));
  EXPECT_EQ(binding["roleRef"]["name"], "evaluator-workflows");
}

TEST(StackEvaluatorPlan, ACurrentArgoNeedsOneRightMore) {
  World world;
  world.settings.workflow_task_results = true;
  const Planned planned = plan_of(minimal(kind), world);
  const Tree rules = planned.child(ChildType::role, "evaluator-workflows")["rules"];
  ASSERT_EQ(rules.size(), 3U);
  EXPECT_EQ(rules[2], Tree::parse(R"({"apiGroups":["argoproj.io"],"resources":["workflowtaskresults"],
                                      "verbs":["create","patch"]})"));
}

TEST(StackEvaluatorPlan, ItMayNotReadSecretsItself) {
  const Tree role = plan_of(minimal(kind)).child(ChildType::role, "evaluator");
  EXPECT_EQ(role.dump().find("secrets"), std::string::npos);
}

TEST(StackEvaluatorPlan, WorkflowsHaveTheirRightsWhoeverTheEvaluatorRunsAs) {
  const Planned planned = plan_of(minimal(kind, "spec: {serviceAccountName: mine}"));
  EXPECT_EQ(planned.names(), (std::vector<std::string>{"Deployment evaluator", "Role evaluator-workflows",
                                                       "RoleBinding evaluator-workflows", "Service evaluator"}));
}

TEST(StackEvaluatorPlan, EveryFieldReachesTheContainer) {
  const Planned planned = plan_of(full(kind));
  EXPECT_EQ(planned.variable("STACKGATE_WORKFLOW_SERVER_URL"), "https://argo-server.argo:2746");
  EXPECT_EQ(planned.variable("STACKGATE_WORKFLOW_SERVICE_ACCOUNT"), "evaluator-workflow");
  EXPECT_EQ(planned.variable("STACKGATE_VECTOR_DB_URL"), "http://milvus.vectors:19530");
  EXPECT_EQ(planned.variable("STACKGATE_DATASTORE_URL"), "http://datastore:8000/v1/hf");
  EXPECT_EQ(planned.variable("STACKGATE_ENTITYSTORE_URL"), "http://entitystore:8000");
  EXPECT_EQ(planned.variable("STACKGATE_EVAL_LOG_LEVEL"), "DEBUG");
  EXPECT_EQ(planned.variable("STACKGATE_LOG_HANDLERS"), "console");
  EXPECT_EQ(planned.variable("STACKGATE_CONSOLE_LOG_LEVEL"), "INFO");
  EXPECT_EQ(planned.variable("STACKGATE_IMAGE"), "registry.example.com/stackgate/evaluator:0.1.0");
  EXPECT_EQ(planned.variable("STACKGATE_IMAGE_PULL_SECRETS"), "registry-pull");
  EXPECT_EQ(planned.variable("STACKGATE_NAMESPACE")["fieldRef"]["fieldPath"], "metadata.namespace");
  for (const auto& [name, image] : {std::pair{"BIGCODE_EVAL_HARNESS", "bigcode:0.3.1"},
                                    {"LM_EVAL_HARNESS", "lm-harness:0.4.5"},
                                    {"SIMILARITY_METRICS", "similarity:0.2.0"},
                                    {"LLM_AS_JUDGE", "judge:0.2.4"},
                                    {"MT_BENCH", "mt-bench:0.2.4"},
                                    {"RETRIEVER", "retriever:0.1.7"},
                                    {"RAG", "rag:0.1.7"},
                                    {"BFCL", "bfcl:0.3.0"},
                                    {"AGENTIC_EVAL", "agentic:0.1.2"}})
    EXPECT_EQ(planned.variable(std::string("STACKGATE_EVALUATION_IMAGE_") + name),
              std::string("registry.example.com/eval/") + image);
}

TEST(StackEvaluatorPlan, ItSignsInAtTheDatastoreOfItsNamespace) {
  World world;
  world.observed.datastore_admin = "datastore-admin";
  EXPECT_EQ(plan_of(minimal(kind), world).variable("DATASTORE_PASSWORD")["secretKeyRef"]["name"], "datastore-admin");
  EXPECT_TRUE(plan_of(minimal(kind)).variable("DATASTORE_PASSWORD").is_null()) << "of an unknown one nothing";
}

TEST(StackEvaluatorPlan, DefaultsAreWrittenOut) {
  const Planned planned = plan_of(minimal(kind));
  EXPECT_EQ(planned.variable("STACKGATE_EVAL_LOG_LEVEL"), "INFO");
  EXPECT_EQ(planned.variable("STACKGATE_ENABLE_VALIDATION"), "true");
  EXPECT_TRUE(planned.variable("STACKGATE_LOG_HANDLERS").is_null());
  EXPECT_TRUE(planned.variable("STACKGATE_IMAGE_PULL_SECRETS").is_null());
  EXPECT_EQ(plan_of(minimal(kind, "spec: {enableValidation: false}")).variable("STACKGATE_ENABLE_VALIDATION"), "false");
}

}  // namespace stack_evaluator
}  // namespace stackgate::reconcile::tests
