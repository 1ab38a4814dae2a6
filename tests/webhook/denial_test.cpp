#include "webhook/denial.hpp"

#include <numeric>
#include <sstream>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace stackgate::webhook {
namespace {

using validate::Finding;
using validate::Findings;
using validate::Severity;

Finding finding(Severity severity, std::string path, std::string problem, std::string fix) {
  return {"pvc-create-incomplete", severity, std::move(path), "", std::move(problem), std::move(fix), 0};
}

TEST(Denial, EachErrorIsACauseAndNoWarningIs) {
  const Findings findings{finding(Severity::error, "spec.pvc", "needs a size", "write size: 10Gi"),
                          finding(Severity::warning, "spec.image.tag", "is latest", "write a version")};
  const auto causes = causes_of(findings);
  ASSERT_EQ(causes.size(), 1U);
  EXPECT_EQ(causes[0].field, "spec.pvc");
  EXPECT_EQ(causes[0].reason, "FieldValueRequired");
  EXPECT_THAT(causes[0].message,
              testing::AllOf(testing::HasSubstr("needs a size"), testing::HasSubstr("write size: 10Gi"),
                             testing::HasSubstr("pvc-create-incomplete")));
}

TEST(Denial, ACauseBearsKubernetesWordForItsRule) {
  const std::pair<const char*, const char*> words[] = {{"schema-required", "FieldValueRequired"},
                                                       {"gpu-missing", "FieldValueRequired"},
                                                       {"secret-missing", "FieldValueNotFound"},
                                                       {"required-secret-key-missing", "FieldValueNotFound"},
                                                       {"schema-enum", "FieldValueNotSupported"},
                                                       {"schema-duplicate", "FieldValueDuplicate"},
                                                       {"schema-unknown-field", "FieldValueForbidden"},
                                                       {"cache-immutable", "FieldValueForbidden"},
                                                       {"scale-excludes-replicas", "FieldValueForbidden"},
                                                       {"deletion-of-used-cache", "FieldValueForbidden"},
                                                       {"schema-type", "FieldValueTypeInvalid"},
                                                       {"configstore-exactly-one", "FieldValueInvalid"},
                                                       {"no-such-rule", "FieldValueInvalid"}};
  for (const auto& [rule, word] : words) EXPECT_EQ(cause_reason(rule), word) << rule;
}

TEST(Denial, TheMessageCountsTheFaultsAndKeepsToEightyColumns) {
  Findings findings;
  for (int i = 0; i < 12; ++i)
    findings.push_back(finding(Severity::error, "spec.trainingConfig.networkConfig[2].name",
                               "is a rather long explanation of what is wrong with this field here",
                               "write something that is about as long as this sentence is"));
  const std::string message = denial_message("StackCustomizer", "tuner", causes_of(findings));
  EXPECT_THAT(message, testing::StartsWith("StackCustomizer \"tuner\" has 12 faults:\n 1. spec.trainingConfig"));
  EXPECT_THAT(message, testing::HasSubstr("\n12. "));
  std::istringstream lines(message);
  for (std::string line; std::getline(lines, line);) EXPECT_LE(line.size(), 80U) << line;
}

TEST(Denial, WarningsStayWithinTheLimitsOfKubernetes) {
  Findings findings;
  for (int i = 0; i < 100; ++i)
    findings.push_back(
        finding(Severity::warning, "spec.env[" + std::to_string(i) + "]", std::string(300, 'x') + "ü", "fix"));
  const auto warnings = warnings_of(findings);
  std::size_t total = 0;
  for (const std::string& each : warnings) {
    EXPECT_LE(each.size(), 256U);
    total += each.size();
  }
  EXPECT_LE(total, 4096U);
  EXPECT_THAT(warnings.back(), testing::HasSubstr("more"));
  EXPECT_THAT(warnings.back(), testing::HasSubstr(std::to_string(100 - (warnings.size() - 1))));
}

TEST(Denial, AWarningIsCutAtACharactersEndAndHoldsNoControlCharacter) {
  std::string many_umlauts;
  for (int i = 0; i < 200; ++i) many_umlauts += "ü";
  const auto warnings = warnings_of({finding(Severity::warning,
                                             "spec.x\r\n\x7f"
                                             "y",
                                             many_umlauts, "fix")});
  ASSERT_EQ(warnings.size(), 1U);
  EXPECT_LE(warnings[0].size(), 256U);
  EXPECT_THAT(warnings[0], testing::StartsWith("spec.x   y"));
  EXPECT_THAT(warnings[0], testing::EndsWith("ü…"));
}

TEST(Denial, ACauseIsOneLineWhereverAControlCharacterStands) {
  for (const char control : {'\n', '\x01', '\x1f', '\x7f'})
    for (std::size_t length = 1; length < 20; ++length)
      for (std::size_t at = 0; at < length; ++at) {
        std::string problem(length, 'x');
        problem[at] = control;
        const Findings findings{finding(Severity::error, "spec.pvc", problem, "")};
        problem[at] = ' ';
        EXPECT_THAT(causes_of(findings)[0].message, testing::StartsWith(problem + " ["));
      }
}

}  // namespace
}  // namespace stackgate::webhook
