// What a finding says to write instead: it must be right where it is copied from the screen.
#include <gtest/gtest.h>

#include "tests/validators/rules/rule_cases.hpp"
#include "validators/rule_ids.hpp"

namespace stackgate::validate::tests {
namespace {

using crds::Kind;

struct CureCase {
  Kind kind;
  std::string_view patch;
  std::string_view fix;  // of the one finding
};

TEST(Cures, AreWhatOneWouldWrite) {
  const CureCase cases[] = {
      {Kind::inference_service, "spec: {env: [{name: LOG LEVEL, value: x}]}", "write \"LOG_LEVEL\""},
      {Kind::inference_service, "spec: {env: [{name: 1A, value: x}]}", "write \"_1A\""},
      {Kind::inference_service, "spec: {resources: {limits: {cpu: 0.5}}}", "write it in quotes: \"0.5\""},
      {Kind::inference_service, "spec: {resources: {limits: {nvidia.com/gpu: -1}}}",
       "write nvidia.com/gpu: 1, or leave the line out"},
      {Kind::inference_service, "spec: {replicas: 99999999999}", "write an integer between 0 and 2147483647"},
      {Kind::inference_service, "spec: {image: {repository: 'https://r.io/a/b'}}", "write \"r.io/a/b\""},
      {Kind::inference_service, "spec: {image: {repository: 'https://r.io/A/b'}}",
       "write it without the scheme, as in \"registry.example.com/team/app\""},
      {Kind::inference_service, "spec: {image: {tag: 'sha256:0123'}}",
       "write the tag of that image, for example \"1.4.2\""},
      {Kind::inference_service, "spec: {image: {pullSecrets: [{name: registry-pull}]}}",
       "write \"registry-pull\" alone"},
      {Kind::inference_service, "spec: {expose: {ingress: {enabled: true, host: 'https://llm.example.com/'}}}",
       "write \"llm.example.com\""},
      {Kind::inference_service,
       "spec: {env: [{name: INF_PEFT_SOURCE, value: 'http://e'}, {name: INF_PEFT_REFRESH_INTERVAL, value: 60s}]}",
       "write a number of seconds without a unit, for example \"60\""},
      {Kind::inference_service, "spec: {readinessProbe: {periodSeconds: 5}}", "write it under probe"},
      {Kind::inference_service, "replicas: 2", "write it under spec"},
      {Kind::inference_service, "spec: {nodeSize: 2}",
       "remove it; the fields here are image, authSecret, resources, affinity, annotations, env, expose, labels, "
       "livenessProbe, metrics, multiNode, nodeSelector, …"},
      {Kind::inference_service, "spec: {livenessProbe: {probe: {successThreshold: 0}}}", "write 1"},
      {Kind::inference_service, "spec: {expose: {ingress: {enabled: true, path: '/a b'}}}",
       "write %20 for it, or leave it out"},
      {Kind::inference_service, "spec: {serviceAccountName: ''}",
       "write a name; where none is needed, take the field out"},
      {Kind::stack_datastore, "spec: {databaseConfig: {host: '[fd00::1]'}}", "write \"fd00::1\""},
      {Kind::stack_customizer, "spec: {trainingConfig: {networkConfig: [{name: NCCL DEBUG, value: x}]}}",
       "write \"NCCL_DEBUG\""},
  };
  for (const CureCase& each : cases) {
    const Findings findings = review_of(each.kind, each.patch);
    ASSERT_EQ(findings.size(), 1U) << each.patch << all_lines(findings);
    EXPECT_EQ(findings[0].fix, each.fix) << each.patch;
  }
}

TEST(Cures, AProbeOutOfRangeIsOneFault) {
  for (const char* patch :
       {"spec: {startupProbe: {probe: {periodSeconds: -1}}}", "spec: {readinessProbe: {probe: {periodSeconds: 0}}}",
        "spec: {startupProbe: {probe: {failureThreshold: -5}}}"}) {
    const Findings findings = review_of(Kind::inference_service, patch);
    ASSERT_EQ(findings.size(), 1U) << patch << all_lines(findings);
    EXPECT_EQ(findings[0].rule, rule::schema_range.id) << patch;
  }
}

TEST(Cures, NeverQuoteAnAnnotation) {
  for (const char* patch : {"spec: {annotations: {a b: hunter2}}", "metadata: {annotations: {a b: hunter2}}",
                            "spec: {expose: {ingress: {annotations: {a b: hunter2}}}}",
                            "spec: {metrics: {serviceMonitor: {annotations: {a b: hunter2}}}}"}) {
    const Findings findings = review_of(Kind::inference_service, patch);
    EXPECT_EQ(findings.size(), 1U) << patch << all_lines(findings);
    EXPECT_EQ(all_lines(findings).find("hunter2"), std::string::npos) << all_lines(findings);
    for (const Finding& each : findings) EXPECT_TRUE(each.value.empty()) << each.value;
  }
}

}  // namespace
}  // namespace stackgate::validate::tests
