#include <gtest/gtest.h>

#include "tests/validators/rules/rule_cases.hpp"
#include "validators/rule_ids.hpp"

namespace stackgate::validate::tests {
namespace stack_evaluator_test {

constexpr auto kind = crds::Kind::stack_evaluator;

TEST(StackEvaluatorRules, AllNineFrameworksHaveAnImage) {
  expect_rule(rule::evaluation_image_missing, kind,
              {{"{}", {}},
               {"spec: {evaluationImages: {rag: null}}", {"spec.evaluationImages.rag"}},
               {"spec: {evaluationImages: {rag: null, bfcl: null}}",
                {"spec.evaluationImages.rag", "spec.evaluationImages.bfcl"}}});
  const Findings found =
      of_rule(review_of(kind, "spec: {evaluationImages: {rag: null}}"), rule::evaluation_image_missing);
  ASSERT_EQ(found.size(), 1U);
  EXPECT_EQ(found[0].fix, "add rag: <repository>:<tag>");
}

TEST(StackEvaluatorRules, EachImageIsAWholeReference) {
  for (const std::string_view key : {"bigcodeEvalHarness", "lmEvalHarness", "similarityMetrics", "llmAsJudge",
                                     "mtBench", "retriever", "rag", "bfcl", "agenticEval"}) {
    const Findings findings =
        review_of(kind, "spec: {evaluationImages: {" + std::string(key) + ": 'registry.example.com/Eval/X:1.0'}}");
    ASSERT_EQ(findings.size(), 1U) << key << all_lines(findings);
    EXPECT_EQ(findings[0].path, "spec.evaluationImages." + std::string(key));
    EXPECT_EQ(findings[0].severity, Severity::error);
  }
}

TEST(StackEvaluatorRules, TheWorkflowServerNormallySpeaksHttps) {
  const auto server = [](std::string_view url) {
    return "spec: {workflowServer: {endpoint: '" + std::string(url) + "'}}";
  };
  expect_rule(rule::workflow_server_plain_http, kind,
              {{server("http://argo-server.argo:2746"), {"spec.workflowServer.endpoint"}},
               {server("https://argo-server.argo:2746"), {}},
               {server("https://argo.example.com"), {}}});
}

TEST(StackEvaluatorRules, AConsoleLevelNeedsAConsoleThatHearsIt) {
  expect_rule(rule::console_level_ignored, kind,
              {{"spec: {consoleLogLevel: INFO}", {"spec.consoleLogLevel"}},
               {"spec: {logHandlers: console, consoleLogLevel: DEBUG}", {"spec.consoleLogLevel"}},
               {"spec: {logHandlers: console, evalLogLevel: INFO, consoleLogLevel: DEBUG}", {"spec.consoleLogLevel"}},
               {"spec: {logHandlers: console, evalLogLevel: DEBUG, consoleLogLevel: DEBUG}", {}},
               {"spec: {logHandlers: console, evalLogLevel: DEBUG, consoleLogLevel: INFO}", {}},
               {"spec: {logHandlers: console, consoleLogLevel: INFO}", {}},
               {"spec: {logHandlers: console}", {}}});
}

TEST(StackEvaluatorRules, TheMinimalSampleHasNoFault) {
  EXPECT_TRUE(review_of(kind, "{}").empty()) << all_lines(review_of(kind, "{}"));
}

}  // namespace stack_evaluator_test
}  // namespace stackgate::validate::tests
