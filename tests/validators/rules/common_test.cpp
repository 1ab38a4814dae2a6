// The sub-objects that several kinds share: good, bad and just at the limit.
#include <gtest/gtest.h>

#include "tests/validators/rules/rule_cases.hpp"
#include "validators/rule_ids.hpp"

namespace stackgate::validate::tests {
namespace {

using crds::Kind;

TEST(CommonRules, RequestsStayAtOrBelowLimits) {
  expect_rule(
      rule::requests_above_limits, Kind::inference_service,
      {{"spec: {resources: {requests: {cpu: 2}, limits: {cpu: 2}}}", {}},
       {"spec: {resources: {requests: {cpu: 2000m}, limits: {cpu: 2}}}", {}},
       {"spec: {resources: {requests: {memory: 1Gi}, limits: {memory: 1G}}}", {"spec.resources.requests.memory"}},
       {"spec: {resources: {requests: {cpu: 2001m}, limits: {cpu: 2}}}", {"spec.resources.requests.cpu"}},
       {"spec: {resources: {requests: {cpu: 4}}}", {}}});
}

TEST(CommonRules, AGpuIsCountedWholeAndOnce) {
  expect_rule(rule::gpu_count, Kind::inference_service,
              {{"spec: {resources: {limits: {nvidia.com/gpu: 8}}}", {}},
               {"spec: {resources: {limits: {nvidia.com/gpu: '1'}}}", {}},
               {"spec: {resources: {limits: {nvidia.com/gpu: 0}}}", {"spec.resources.limits[nvidia.com/gpu]"}},
               {"spec: {resources: {limits: {nvidia.com/gpu: 500m}}}", {"spec.resources.limits[nvidia.com/gpu]"}}});
  expect_rule(rule::gpu_requests_differ_from_limits, Kind::inference_service,
              {{"spec: {resources: {requests: {nvidia.com/gpu: 1}}}", {}},
               {"spec: {resources: {requests: {nvidia.com/gpu: '1'}}}", {}},
               {"spec: {resources: {requests: {nvidia.com/gpu: 2}}}", {"spec.resources.requests[nvidia.com/gpu]"}},
               {"spec: {resources: {requests: {amd.com/gpu: 1}}}", {"spec.resources.requests[amd.com/gpu]"}}});
  expect_rule(rule::gpu_missing, Kind::inference_service,
              {{"spec: {resources: {limits: {nvidia.com/gpu: null, amd.com/gpu: 1}}}", {}},
               {"spec: {resources: {limits: {nvidia.com/gpu: null}}}", {"spec.resources.limits"}},
               {"spec: {resources: {limits: null}}", {"spec.resources.limits"}}});
}

TEST(CommonRules, OtherNamesCountAsGpuByOption) {
  const auto object = sample(Kind::inference_service,
                             "spec: {resources: {limits: {nvidia.com/gpu: null, example.com/accelerator: 2}}}");
  const Request request{.kind = Kind::inference_service, .object = &object->value(), .old = nullptr, .ns = "default"};
  EXPECT_EQ(short_form(review(request, nullptr)),
            (std::vector<std::string>{"error spec.resources.limits[example.com/accelerator] gpu-missing"}));
  Options options;
  options.gpu_resources = {"example.com/accelerator"};
  EXPECT_EQ(short_form(review(request, nullptr, options)), std::vector<std::string>{});
}

TEST(CommonRules, ResourcesAreThoseThatContainersHave) {
  expect_rule(rule::resource_key, Kind::inference_service,
              {{"spec: {resources: {limits: {cpu: 1, memory: 1Gi, ephemeral-storage: 1Gi}}}", {}},
               {"spec: {resources: {limits: {hugepages-2Mi: 2Mi, memory: 1Gi}}}", {}},
               {"spec: {resources: {limits: {gpu: 1}}}", {"spec.resources.limits.gpu"}},
               {"spec: {resources: {limits: {storage: 1Gi}}}", {"spec.resources.limits.storage"}}});
  expect_rule(rule::extended_resource_integer, Kind::inference_service,
              {{"spec: {resources: {limits: {rdma/hca: 2}}}", {}},
               {"spec: {resources: {limits: {rdma/hca: 1500m}}}", {"spec.resources.limits[rdma/hca]"}}});
  expect_rule(rule::hugepages_alone, Kind::inference_service,
              {{"spec: {resources: {limits: {hugepages-2Mi: 2Mi}}}", {"spec.resources.limits.hugepages-2Mi"}},
               {"spec: {resources: {limits: {hugepages-2Mi: 2Mi, cpu: 1}}}", {}}});
  expect_rule(rule::extended_resource_unequal, Kind::inference_service,
              {{"spec: {resources: {requests: {hugepages-2Mi: 2Mi}, limits: {hugepages-2Mi: 4Mi, cpu: 1}}}",
                {"spec.resources.requests.hugepages-2Mi"}},
               {"spec: {resources: {requests: {rdma/hca: 1}}}", {"spec.resources.requests[rdma/hca]"}}});
  expect_rule(rule::memory_fraction, Kind::inference_service,
              {{"spec: {resources: {limits: {memory: 512m}}}", {"spec.resources.limits.memory"}},
               {"spec: {resources: {limits: {memory: 512M}}}", {}},
               {"spec: {resources: {limits: {cpu: 500m}}}", {}}});
}

TEST(CommonRules, AClaimIsCreatedWholeOrNamed) {
  expect_rule(rule::pvc_create_incomplete, Kind::stack_datastore,
              {{"spec: {pvc: {size: null}}", {"spec.pvc.size"}},
               {"spec: {pvc: {size: null, volumeAccessMode: null}}", {"spec.pvc.size", "spec.pvc.volumeAccessMode"}},
               {"spec: {pvc: {create: false, name: data, size: null, volumeAccessMode: null}}", {}},
               {"spec: {pvc: null}", {}}});
  expect_rule(rule::pvc_name_missing, Kind::stack_datastore,
              {{"spec: {pvc: {create: false}}", {"spec.pvc.name"}},
               {"spec: {pvc: {create: null}}", {"spec.pvc.name"}},
               {"spec: {pvc: {create: null, name: data}}", {}}});
  expect_rule(rule::pvc_size_zero, Kind::stack_datastore,
              {{"spec: {pvc: {size: 0Gi}}", {"spec.pvc.size"}}, {"spec: {pvc: {size: '1'}}", {}}});
  expect_rule(rule::pvc_sub_path, Kind::stack_datastore,
              {{"spec: {pvc: {subPath: a/b..c}}", {}},
               {"spec: {pvc: {subPath: a/../b}}", {"spec.pvc.subPath"}},
               {"spec: {pvc: {subPath: /a}}", {"spec.pvc.subPath"}}});
  expect_rule(rule::storage_class_name, Kind::stack_datastore,
              {{"spec: {pvc: {storageClass: ''}}", {}},
               {"spec: {pvc: {storageClass: a.b-c}}", {}},
               {"spec: {pvc: {storageClass: A}}", {"spec.pvc.storageClass"}}});
  expect_rule(rule::quantity, Kind::stack_datastore,
              {{"spec: {pvc: {size: 10GB}}", {"spec.pvc.size"}},
               {"spec: {pvc: {size: '-1Gi'}}", {"spec.pvc.size"}},
               {"spec: {pvc: {size: '1e3'}}", {}}});
}

TEST(CommonRules, AnEnvironmentIsOneThatPodsCanHave) {
  expect_rule(rule::env_name, Kind::inference_service,
              {{"spec: {env: [{name: a.b-c_D}]}", {}},
               {"spec: {env: [{name: 'A B'}]}", {"spec.env[0].name"}},
               {"spec: {env: [{name: A}, {name: 1A}]}", {"spec.env[1].name"}}});
  expect_rule(rule::env_value_twice, Kind::inference_service,
              {{"spec: {env: [{name: A, value: '', valueFrom: {fieldRef: {fieldPath: metadata.uid}}}]}", {}},
               {"spec: {env: [{name: A, value: x, valueFrom: {fieldRef: {fieldPath: metadata.uid}}}]}",
                {"spec.env[0].value"}}});
  expect_rule(
      rule::env_value_source, Kind::inference_service,
      {{"spec: {env: [{name: A, valueFrom: {secretKeyRef: {name: s, key: k}, configMapKeyRef: {name: s, key: k}}}]}",
        {"spec.env[0].valueFrom"}}});
  expect_rule(rule::env_field_path, Kind::inference_service,
              {{"spec: {env: [{name: A, valueFrom: {fieldRef: {fieldPath: \"metadata.labels['app']\"}}}]}", {}},
               {"spec: {env: [{name: A, valueFrom: {fieldRef: {fieldPath: metadata.labels}}}]}",
                {"spec.env[0].valueFrom.fieldRef.fieldPath"}},
               {"spec: {env: [{name: A, valueFrom: {resourceFieldRef: {resource: limits.memory}}}]}", {}},
               {"spec: {env: [{name: A, valueFrom: {resourceFieldRef: {resource: memory}}}]}",
                {"spec.env[0].valueFrom.resourceFieldRef.resource"}}});
}

TEST(CommonRules, DoubleNamesAreReportedOnce) {
  EXPECT_EQ(
      short_form(review_of(Kind::inference_service, "spec: {env: [{name: A, value: one}, {name: A, value: two}]}")),
      (std::vector<std::string>{"error spec.env[1] schema-duplicate"}));
  EXPECT_EQ(short_form(review_of(Kind::inference_service, "spec: {image: {pullSecrets: [a, b, a]}}")),
            (std::vector<std::string>{"error spec.image.pullSecrets[2] schema-duplicate"}));
}

TEST(CommonRules, TheOperatorsOwnVariablesAreReserved) {
  expect_rule(
      rule::env_reserved, Kind::stack_guardrail,
      {{"spec: {env: [{name: OTEL_LOG_LEVEL, value: DEBUG}]}", {}},  // otel is off
       {"spec: {otel: {enabled: true, exporterOtlpEndpoint: 'http://c:4318'}, env: [{name: OTEL_LOG_LEVEL, "
        "value: INFO}]}",
        {"spec.env[0].name"}},
       {"spec: {env: [{name: INFERENCE_ENDPOINT_API_KEY, value: x}]}", {"spec.env[0].name"}},
       {"spec: {env: [{name: STACKGATE_DATA_DIR, value: /x}]}", {"spec.env[0].name"}},
       {"spec: {env: [{name: STACKGATE_LOG_FORMAT, value: json}, {name: OTEL_SDK_DISABLED, value: 'false'}]}", {}},
       {"spec: {env: [{name: STACKGATE_DATASTORE_URL, value: x}]}", {}}});
  expect_rule(rule::env_reserved, Kind::stack_evaluator,
              {{"spec: {env: [{name: STACKGATE_DATASTORE_URL, value: x}]}", {"spec.env[0].name"}}});
  expect_rule(rule::env_reserved, Kind::inference_service,
              {{"spec: {env: [{name: LWS_GROUP_SIZE, value: '2'}]}", {}},
               {"spec: {multiNode: {size: 2}, env: [{name: LWS_GROUP_SIZE, value: '2'}]}", {"spec.env[0].name"}},
               {"spec: {env: [{name: LOG_LEVEL}, {name: REGISTRY_API_KEY, value: x}]}", {"spec.env[1].name"}}});
}

TEST(CommonRules, WhatOthersDependOnRunsTwice) {
  for (const Kind kind : {Kind::stack_entitystore, Kind::stack_customizer})
    expect_rule(rule::single_replica, kind,
                {{"spec: {replicas: 1}", {"spec.replicas"}},
                 {"spec: {replicas: null}", {"spec.replicas"}},
                 {"spec: {replicas: 2}", {}},
                 {"spec: {replicas: 0}", {}}});
  // A second datastore could not mount a ReadWriteOnce claim.
  const auto datastore = [](std::string_view mode, std::string_view more) {
    return "spec: {pvc: {volumeAccessMode: " + std::string(mode) + "}" + std::string(more) + "}";
  };
  expect_rule(rule::single_replica, Kind::stack_datastore,
              {{datastore("ReadWriteOnce", ""), {}},
               {datastore("ReadWriteOnce", ", replicas: 1"), {}},
               {datastore("ReadWriteMany", ", replicas: 1"), {"spec.replicas"}},
               {datastore("ReadWriteMany", ""), {"spec.replicas"}},
               {datastore("ReadWriteMany", ", replicas: 2"), {}}});
  expect_rule(rule::single_replica, Kind::stack_guardrail, {{"spec: {replicas: 1}", {}}, {"{}", {}}});
  EXPECT_EQ(short_form(review_of(Kind::stack_entitystore, "spec: {replicas: null, replica: 1}")),
            std::vector<std::string>{"error spec.replica schema-unknown-field"});
}

TEST(CommonRules, ScrapesEndBeforeTheNextBegins) {
  expect_rule(rule::scrape_timeout_above_interval, Kind::inference_service,
              {{"spec: {metrics: {serviceMonitor: {interval: 1m, scrapeTimeout: 60s}}}", {}},
               {"spec: {metrics: {serviceMonitor: {interval: 1m, scrapeTimeout: 61s}}}",
                {"spec.metrics.serviceMonitor.scrapeTimeout"}},
               {"spec: {metrics: {serviceMonitor: {scrapeTimeout: 61s}}}", {}}});
  expect_rule(rule::duration, Kind::inference_service,
              {{"spec: {metrics: {serviceMonitor: {interval: 1h30m}}}", {}},
               {"spec: {metrics: {serviceMonitor: {interval: 30m1h}}}", {"spec.metrics.serviceMonitor.interval"}}});
}

TEST(CommonRules, TelemetryNeedsACollectorForOtlpOnly) {
  expect_rule(rule::otel_endpoint_missing, Kind::stack_guardrail,
              {{"spec: {otel: {enabled: false}}", {}},
               {"spec: {otel: {enabled: true}}", {"spec.otel.exporterOtlpEndpoint"}},
               {"spec: {otel: {enabled: true, exporterConfig: {tracesExporter: none, metricsExporter: console}}}",
                {"spec.otel.exporterOtlpEndpoint"}},
               {"spec: {otel: {enabled: true, exporterConfig: {tracesExporter: none, metricsExporter: none, "
                "logsExporter: console}}}",
                {}}});
}

TEST(CommonRules, ADatabaseHostStandsAlone) {
  expect_rule(rule::database_host, Kind::stack_entitystore,
              {{"spec: {databaseConfig: {host: db.team-a.svc.cluster.local}}", {}},
               {"spec: {databaseConfig: {host: 10.0.0.7}}", {}},
               {"spec: {databaseConfig: {host: 'fd00::7'}}", {}},
               {"spec: {databaseConfig: {host: 10.0.0.256}}", {"spec.databaseConfig.host"}},
               {"spec: {databaseConfig: {host: 'db:5432'}}", {"spec.databaseConfig.host"}},
               {"spec: {databaseConfig: {host: 'postgresql://db'}}", {"spec.databaseConfig.host"}}});
}

TEST(CommonRules, OneWayInIsEnough) {
  expect_rule(rule::ingress_and_route, Kind::stack_evaluator,
              {{"spec: {expose: {ingress: {enabled: true}, httpRoute: {enabled: true, parentRefs: [{name: g}]}}}",
                {"spec.expose.httpRoute.enabled"}},
               {"spec: {expose: {ingress: {enabled: true}, httpRoute: {parentRefs: [{name: g}]}}}", {}}});
  expect_rule(rule::ingress_host, Kind::stack_evaluator,
              {{"spec: {expose: {ingress: {host: '*.example.com'}}}", {}},
               {"spec: {expose: {ingress: {host: 'LLM.example.com'}}}", {"spec.expose.ingress.host"}},
               {"spec: {expose: {ingress: {host: 10.0.0.7}}}", {"spec.expose.ingress.host"}},
               {"spec: {expose: {httpRoute: {hostnames: [a.b, 'c.d:80']}}}", {"spec.expose.httpRoute.hostnames[1]"}}});
  expect_rule(rule::ingress_path, Kind::stack_evaluator,
              {{"spec: {expose: {ingress: {path: /a/b.c/}}}", {}},
               {"spec: {expose: {ingress: {path: a}}}", {"spec.expose.ingress.path"}},
               {"spec: {expose: {ingress: {path: /a//b}}}", {"spec.expose.ingress.path"}},
               {"spec: {expose: {ingress: {path: /a/..}}}", {"spec.expose.ingress.path"}}});
}

TEST(CommonRules, TolerationsFollowTheirOwnGrammar) {
  expect_rule(rule::toleration_key, Kind::stack_guardrail,
              {{"spec: {tolerations: [{operator: Exists}]}", {}},
               {"spec: {tolerations: [{value: x}]}", {"spec.tolerations[0].key"}},
               {"spec: {tolerations: [{key: 'a b', operator: Exists}]}", {"spec.tolerations[0].key"}}});
  expect_rule(rule::toleration_value, Kind::stack_guardrail,
              {{"spec: {tolerations: [{key: a, value: b}]}", {}},
               {"spec: {tolerations: [{key: a, operator: Exists, value: ''}]}", {}},
               {"spec: {tolerations: [{key: a, operator: Exists, value: b}]}", {"spec.tolerations[0].value"}},
               {"spec: {tolerations: [{key: a, value: 'b c'}]}", {"spec.tolerations[0].value"}}});
  expect_rule(rule::toleration_seconds, Kind::stack_guardrail,
              {{"spec: {tolerations: [{key: a, operator: Exists, effect: NoExecute, tolerationSeconds: 0}]}", {}},
               {"spec: {tolerations: [{key: a, operator: Exists, tolerationSeconds: 1}]}",
                {"spec.tolerations[0].tolerationSeconds"}}});
}

TEST(CommonRules, SelectorsCompareWithWhatTheirOperatorTakes) {
  const auto terms = [](std::string_view expression) {
    return "spec: {affinity: {nodeAffinity: {requiredDuringSchedulingIgnoredDuringExecution: {nodeSelectorTerms: [" +
           std::string(expression) + "]}}}}";
  };
  const std::string at =
      "spec.affinity.nodeAffinity.requiredDuringSchedulingIgnoredDuringExecution.nodeSelectorTerms[0].";
  const struct {
    std::string term, place;
  } cases[] = {
      {"{matchExpressions: [{key: a, operator: Gt, values: ['8']}]}", ""},
      {"{matchExpressions: [{key: a, operator: Gt, values: [many]}]}", "matchExpressions[0].values"},
      {"{matchExpressions: [{key: a, operator: Lt, values: ['1', '2']}]}", "matchExpressions[0].values"},
      {"{matchExpressions: [{key: a, operator: Exists, values: [b]}]}", "matchExpressions[0].values"},
      {"{matchExpressions: [{key: a, operator: NotIn}]}", "matchExpressions[0].values"},
      {"{matchFields: [{key: metadata.name, operator: In, values: [node-1]}]}", ""},
      {"{matchFields: [{key: metadata.name, operator: In, values: [a, b]}]}", "matchFields[0].values"},
      {"{matchFields: [{key: spec.podCIDR, operator: In, values: [a]}]}", "matchFields[0].key"},
  };
  for (const auto& each : cases) {
    SCOPED_TRACE(each.term);
    const Findings findings = of_rule(review_of(Kind::inference_service, terms(each.term)), rule::selector_values);
    ASSERT_EQ(findings.size(), each.place.empty() ? 0U : 1U) << all_lines(findings);
    if (!each.place.empty()) {
      EXPECT_EQ(findings[0].path, at + each.place);
    }
  }
}

TEST(CommonRules, RootIsRefusedOnlyWhereItIsForbidden) {
  expect_rule(
      rule::root_with_non_root, Kind::stack_guardrail,
      {{"spec: {podSecurityContext: {runAsUser: 0}}", {}},
       {"spec: {podSecurityContext: {runAsUser: 1, runAsNonRoot: true}}", {}},
       {"spec: {podSecurityContext: {runAsUser: 0, runAsNonRoot: true}}", {"spec.podSecurityContext.runAsUser"}}});
  expect_rule(rule::seccomp_profile, Kind::stack_guardrail,
              {{"spec: {podSecurityContext: {seccompProfile: {type: Localhost, localhostProfile: a}}}", {}},
               {"spec: {podSecurityContext: {seccompProfile: {type: Unconfined, localhostProfile: a}}}",
                {"spec.podSecurityContext.seccompProfile.localhostProfile"}}});
}

TEST(CommonRules, NamesAreThoseOfServicesAndLabels) {
  const std::string longest(63, 'a');
  const auto named = [](const std::string& name) { return "metadata: {name: '" + name + "'}"; };
  const struct {
    Kind kind;
    std::string name;
    bool good;
  } cases[] = {
      {Kind::inference_service, longest, true},      {Kind::inference_service, longest + "a", false},
      {Kind::inference_service, "1a", false},        {Kind::inference_service, "a.b", false},
      {Kind::stack_guardrail, "A", false},           {Kind::inference_cache, "1a.b", true},
      {Kind::inference_cache, longest + "a", false}, {Kind::inference_pipeline, "a-", false},
      {Kind::inference_pipeline, longest, true},
  };
  for (const auto& each : cases)
    EXPECT_EQ(short_form(review_of(each.kind, named(each.name))),
              each.good ? std::vector<std::string>{} : std::vector<std::string>{"error metadata.name resource-name"})
        << each.name;
  EXPECT_EQ(short_form(review_of(Kind::inference_service, "metadata: {name: null}")),
            (std::vector<std::string>{"error metadata.name resource-name"}));
  EXPECT_EQ(short_form(review_of(Kind::inference_service, "metadata: {name: null, generateName: llm-}")),
            std::vector<std::string>{});
}

TEST(CommonRules, LabelsAndAnnotationsAreThoseOfKubernetes) {
  expect_rule(rule::label_grammar, Kind::inference_service,
              {{"metadata: {labels: {team: ''}}", {}},
               {"metadata: {labels: {'a b': c}}", {"metadata.labels[a b]"}},
               {"metadata: {labels: {a: 'b c'}}", {"metadata.labels.a"}},
               {"spec: {nodeSelector: {'a b': c}}", {"spec.nodeSelector[a b]"}}});
  const std::string half(128 * 1024, 'x');
  const std::string just = "spec: {annotations: {a: " + half + ", b: " + half.substr(2) + "}}";
  const std::string over = "spec: {annotations: {a: " + half + ", b: " + half.substr(1) + "}}";
  EXPECT_EQ(short_form(review_of(Kind::inference_service, just)), std::vector<std::string>{});
  EXPECT_EQ(short_form(review_of(Kind::inference_service, over)),
            (std::vector<std::string>{"error spec.annotations annotation-grammar"}));
}

TEST(CommonRules, ImagesAreNamedSoThatNodesFindThem) {
  expect_rule(rule::image_latest, Kind::stack_guardrail,
              {{"spec: {image: {repository: r/g, tag: latest}}", {"spec.image.tag"}},
               {"spec: {image: {repository: r/g}}", {"spec.image.tag"}},
               {"spec: {image: {tag: '1.0'}}", {}}});
  expect_rule(rule::image_latest, Kind::inference_cache,
              {{"spec: {source: {registry: {modelPuller: r/p}}}", {"spec.source.registry.modelPuller"}},
               {"spec: {source: {registry: {modelPuller: 'r/p:latest'}}}", {"spec.source.registry.modelPuller"}},
               {"spec: {source: {registry: {modelPuller: 'r/p:1'}}}", {}}});
  expect_rule(rule::image_repository, Kind::inference_service,
              {{"spec: {image: {repository: 'localhost:5000/a/b'}}", {}},
               {"spec: {image: {repository: 'a/b:1.0'}}", {"spec.image.repository"}},
               {"spec: {image: {repository: r/B}}", {"spec.image.repository"}}});
}

}  // namespace
}  // namespace stackgate::validate::tests
