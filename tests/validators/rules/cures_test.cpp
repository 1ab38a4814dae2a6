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
      {Kind::inference_service, "spec: {resources: {limits: {cpu: 0.5}}}",
       "write it in quotes, as you mean it: without them it is the number 0.5"},
      {Kind::inference_service, "spec: {resources: {limits: {nvidia.com/gpu: 1.5}}}",
       "write a whole number, for example 1"},
      {Kind::inference_service, "spec: {resources: {limits: {nvidia.com/gpu: true}}}",
       "write a whole number, for example 1"},
      {Kind::inference_service, "spec: {resources: {limits: {nvidia.com/gpu: one}}}",
       "write a whole number, for example 1"},
      {Kind::inference_service, "spec: {resources: {limits: null, nvidia.com/gpu: 1}}", "write it under limits"},
      {Kind::inference_service, "spec: {image: {tag: 0123456}}",
       "write it in quotes, as you mean it: without them it is the number 42798"},
      {Kind::inference_service, "spec: {env: [{name: A, value: 8000}]}",
       "write it in quotes, as you mean it: without them it is a number"},
      {Kind::inference_service, "spec: {metrics: {serviceMonitor: {interval: 30}}}",
       "write a number with a unit, for example \"30s\", \"1m\" or \"1h30m\""},
      {Kind::inference_service, "data: {}",
       "remove it; the fields here are spec, apiVersion, kind, metadata and status"},
      {Kind::inference_service, "spec: {expose: {service: {nodePort: 30000}}}",
       "remove it; the fields here are port and type"},
      {Kind::inference_service, "spec: {imagePullSecrets: [a]}", "write pullSecrets under image"},
      {Kind::inference_service, "spec: {env: {A: b}}", "write a list of names and values: - {name: A, value: …}"},
      {Kind::inference_service, "spec: {authSecret: ''}", "write a name"},
      {Kind::inference_service, "spec: {storage: {nimCache: {name: ''}}}", "write a name"},
      {Kind::inference_service, "spec: {image: {pullSecrets: ['']}}", "write a name, or take the item out"},
      {Kind::inference_service, "spec: {image: {repository: ''}}",
       "write a repository such as \"registry.example.com/team/app\""},
      {Kind::stack_entitystore, "spec: {databaseConfig: {databaseName: ''}}", "write a text"},
      {Kind::stack_entitystore, "spec: {databaseConfig: {credentials: {user: ''}}}", "write a text"},
      {Kind::stack_evaluator, "spec: {datastore: {endpoint: 'HTTP://datastore:8000'}}", "write http in lower case"},
      {Kind::stack_evaluator, "spec: {datastore: {endpoint: 'http://data store'}}",
       "write the host with letters, digits, '-' and '.' only"},
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
      {Kind::inference_service, "spec: {serviceAccountName: ''}", "write a name, or leave the field out"},
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

TEST(Cures, SayThatATemplateWasNotRendered) {
  const std::pair<Kind, std::string_view> cases[] = {
      {Kind::stack_evaluator, "spec: {datastore: {endpoint: 'http://${HOST}/v1'}}"},
      {Kind::stack_evaluator, "spec: {datastore: {endpoint: '{{ .Values.url }}'}}"},
      {Kind::inference_service, "spec: {replicas: '{{ .Values.replicas }}'}"},
      {Kind::inference_service, "spec: {image: {tag: '${TAG}'}}"},
      {Kind::inference_service, "spec: {image: {repository: 'r.io/${TEAM}/a'}}"},
      {Kind::inference_service, "spec: {image: {pullPolicy: '${POLICY}'}}"},
      {Kind::inference_service, "spec: {authSecret: '${SECRET}'}"},
      {Kind::inference_service, "spec: {resources: {limits: {nvidia.com/gpu: '{{ .Values.gpus }}'}}}"},
      {Kind::inference_service, "spec: {resources: {limits: {memory: '${MEMORY}'}}}"},
      {Kind::inference_service, "spec: {metrics: {serviceMonitor: {interval: '${INTERVAL}'}}}"},
      {Kind::inference_service, "metadata: {name: '${NAME}'}"},
      {Kind::inference_cache, "spec: {proxy: {noProxy: 'localhost,${HOSTS}'}}"},
  };
  for (const auto& [kind, patch] : cases) {
    const Findings findings = review_of(kind, patch);
    ASSERT_EQ(findings.size(), 1U) << patch << all_lines(findings);
    EXPECT_NE(findings[0].problem.find("looks like a template that was not rendered"), std::string::npos)
        << all_lines(findings);
    EXPECT_EQ(findings[0].fix, "render the template first, or write the value that it stands for");
  }
  EXPECT_TRUE(review_of(Kind::inference_service, "spec: {env: [{name: A, value: '${B} {{ c }}'}]}").empty());
  const Findings annotation = review_of(Kind::inference_service, "spec: {annotations: {a b: '{{ c }}'}}");
  ASSERT_EQ(annotation.size(), 1U);
  EXPECT_EQ(annotation[0].problem.find("template"), std::string::npos) << "an annotation may hold one";
}

TEST(Cures, NeverRepeatAPassword) {
  const std::pair<Kind, std::string_view> cases[] = {
      {Kind::inference_service, "spec: {env: [DB_PASSWORD=hunter2]}"},
      {Kind::inference_service, "spec: {env: DB_PASSWORD=hunter2}"},
      {Kind::inference_service, "spec: {env: {DB_PASSWORD: hunter2}}"},
      {Kind::inference_service, "spec: {env: [{DB_PASSWORD=hunter2}]}"},
      {Kind::inference_service, "spec: {env: [{name: 'BAD=hunter2'}]}"},
      {Kind::inference_service, "spec: {image: {repository: 'user:hunter2@registry.example.com/x'}}"},
      {Kind::inference_service, "spec: {image: {repository: 'user:hunter2@registry'}}"},
      {Kind::inference_service, "spec: {image: {repository: 'user:hunter2@registry.example.com'}}"},
      {Kind::inference_service, "spec: {image: {pullSecrets: 'user:hunter2@registry.example.com'}}"},
      {Kind::inference_service, "spec: {image: {tag: 'user:hunter2@registry/x'}}"},
      {Kind::inference_cache, "spec: {proxy: {noProxy: 'http://u:hunter2@x,*'}}"},
      {Kind::inference_cache, "spec: {proxy: {httpProxy: 'http://u:hunter2@x'}}"},
      {Kind::stack_customizer, "spec: {trainingConfig: {networkConfig: [{name: 'NCCL_DEBUG=hunter2', value: x}]}}"},
  };
  for (const auto& [kind, patch] : cases) {
    const Findings findings = review_of(kind, patch);
    EXPECT_TRUE(has_errors(findings)) << patch;
    for (const Finding& each : findings)
      EXPECT_EQ((each.path + to_line(each)).find("hunter2"), std::string::npos) << patch << all_lines(findings);
  }
  const Findings digest =
      review_of(Kind::inference_service, "spec: {image: {repository: 'r.io/a@sha256:" + std::string(64, '0') + "'}}");
  ASSERT_EQ(digest.size(), 1U);
  EXPECT_NE(digest[0].value.find("r.io/a@sha256:"), std::string::npos) << "a digest is no secret";
}

TEST(Cures, TellAnImageFromAUser) {
  const Findings findings =
      review_of(Kind::inference_service, "spec: {image: {repository: 'user:pw@registry.example.com/x'}}");
  ASSERT_EQ(findings.size(), 1U) << all_lines(findings);
  EXPECT_EQ(findings[0].problem, "must not contain user information");
}

}  // namespace
}  // namespace stackgate::validate::tests
