#include <gtest/gtest.h>

#include "tests/validators/rules/rule_cases.hpp"
#include "validators/rule_ids.hpp"

namespace stackgate::validate::tests {
namespace {

constexpr crds::Kind isvc = crds::Kind::inference_service;

std::string env(std::string_view more) {
  return "spec: {env: [{name: INF_PEFT_SOURCE, value: 'http://e:8000'}, {name: INF_PEFT_REFRESH_INTERVAL, value: "
         "'60'}" +
         std::string(more) + "]}";
}

TEST(InferenceServiceRules, AdaptersComeFromAUrl) {
  expect_rule(
      rule::adapter_source, isvc,
      {{env(""), {}},
       {"spec: {env: [{name: INF_PEFT_SOURCE, value: 'e:8000'}, {name: INF_PEFT_REFRESH_INTERVAL, value: '60'}]}",
        {"spec.env[0].value"}},
       {"spec: {env: [{name: INF_PEFT_SOURCE, value: ''}, {name: INF_PEFT_REFRESH_INTERVAL, value: '60'}]}",
        {"spec.env[0].value"}},
       {"spec: {env: [{name: INF_PEFT_SOURCE, valueFrom: {configMapKeyRef: {name: c, key: k}}}, {name: "
        "INF_PEFT_REFRESH_INTERVAL, value: '60'}]}",
        {}}});
}

TEST(InferenceServiceRules, AdaptersNeverShowAPassword) {
  const Findings findings = review_of(isvc, "spec: {env: [{name: INF_PEFT_SOURCE, value: 'http://u:hunter2@e:8000'}]}");
  EXPECT_EQ(of_rule(findings, rule::url_user_info).size(), 1U);
  EXPECT_EQ(all_lines(findings).find("hunter2"), std::string::npos) << all_lines(findings);
}

TEST(InferenceServiceRules, AdapterNumbersAreWholeAndFit) {
  const auto interval = [](std::string_view value) {
    return "spec: {env: [{name: INF_PEFT_SOURCE, value: 'http://e'}, {name: INF_PEFT_REFRESH_INTERVAL, value: '" +
           std::string(value) + "'}]}";
  };
  for (const char* good : {"1", "3600"})
    EXPECT_EQ(short_form(review_of(isvc, interval(good))), std::vector<std::string>{}) << good;
  for (const char* bad : {"0", "-1", "60s", "1.5", "", " 1"})
    EXPECT_EQ(short_form(review_of(isvc, interval(bad))),
              (std::vector<std::string>{"error spec.env[1].value adapter-refresh-interval"}))
        << bad;
  expect_rule(
      rule::adapter_limits, isvc,
      {{env(", {name: INF_MAX_CPU_LORAS, value: '8'}, {name: INF_MAX_GPU_LORAS, value: '8'}"), {}},
       {env(", {name: INF_MAX_CPU_LORAS, value: '8'}, {name: INF_MAX_GPU_LORAS, value: '9'}"), {"spec.env[3].value"}},
       {env(", {name: INF_MAX_CPU_LORAS, value: none}, {name: INF_MAX_GPU_LORAS, value: '9'}"),
        {"spec.env[2].value"}}});
}

TEST(InferenceServiceRules, AdapterVariablesBelongTogether) {
  expect_rule(
      rule::adapter_variables_partial, isvc,
      {{"spec: {env: [{name: INF_PEFT_SOURCE, value: 'http://e'}]}", {"spec.env[0]"}},
       {"spec: {env: [{name: INF_MAX_CPU_LORAS, value: '8'}, {name: INF_MAX_GPU_LORAS, value: '8'}]}", {"spec.env[0]"}},
       {env(", {name: INF_MAX_GPU_LORAS, value: '8'}"), {"spec.env[2]"}}});
  expect_rule(rule::adapter_variable_unknown, isvc,
              {{env(", {name: INF_PEFT_SORUCE, value: x}"), {"spec.env[2].name"}},
               {env(", {name: INF_SOMETHING_ELSE, value: x}"), {}}});
}

TEST(InferenceServiceRules, ModelsHaveTwentyMinutesToLoad) {
  const auto probe = [](std::string_view fields) {
    return "spec: {startupProbe: {probe: {" + std::string(fields) + "}}}";
  };
  expect_rule(rule::probe_startup_budget, isvc,
              {{probe("periodSeconds: 10, failureThreshold: 120"), {}},
               {probe("periodSeconds: 10, failureThreshold: 119"), {"spec.startupProbe.probe.failureThreshold"}},
               {probe("initialDelaySeconds: 10, periodSeconds: 10, failureThreshold: 119"), {}},
               {probe("periodSeconds: 10, failureThreshold: 360"), {}},
               {probe("periodSeconds: 10, failureThreshold: 361"), {"spec.startupProbe.probe.failureThreshold"}},
               {probe("periodSeconds: 5"), {"spec.startupProbe.probe"}},
               {probe("timeoutSeconds: 5"), {}}});
  expect_rule(
      rule::probe_timeout_above_period, isvc,
      {{"spec: {readinessProbe: {probe: {timeoutSeconds: 10}}}", {}},
       {"spec: {readinessProbe: {probe: {timeoutSeconds: 11}}}", {"spec.readinessProbe.probe.timeoutSeconds"}}});
  expect_rule(rule::probe_success_threshold, isvc,
              {{"spec: {readinessProbe: {probe: {successThreshold: 3}}}", {}},
               {"spec: {startupProbe: {probe: {successThreshold: 2}}}", {"spec.startupProbe.probe.successThreshold"}}});
}

TEST(InferenceServiceRules, SharedMemoryIsThereAndFits) {
  expect_rule(rule::shared_memory_zero, isvc,
              {{"spec: {storage: {sharedMemorySizeLimit: '1'}}", {}},
               {"spec: {storage: {sharedMemorySizeLimit: 0Gi}}", {"spec.storage.sharedMemorySizeLimit"}}});
  expect_rule(rule::shared_memory_above_limit, isvc,
              {{"spec: {storage: {sharedMemorySizeLimit: 8Gi}, resources: {limits: {memory: 8Gi}}}", {}},
               {"spec: {storage: {sharedMemorySizeLimit: 9Gi}, resources: {limits: {memory: 8Gi}}}",
                {"spec.storage.sharedMemorySizeLimit"}}});
}

std::string scaled(std::string_view more) {
  return "spec: {resources: {requests: {cpu: 1}}, scale: {enabled: true, maxReplicas: 4" + std::string(more) + "}}";
}

TEST(InferenceServiceRules, AnAutoscalerDecidesAlone) {
  expect_rule(rule::scale_excludes_replicas, isvc,
              {{"spec: {replicas: 2, scale: {enabled: false, maxReplicas: 4}}", {}},
               {"spec: {replicas: 2, resources: {requests: {cpu: 1}}, scale: {enabled: true, maxReplicas: 4}}",
                {"spec.replicas"}}});
  expect_rule(rule::scale_excludes_multinode, isvc,
              {{"spec: {multiNode: {size: 2}, resources: {requests: {cpu: 1}}, scale: {enabled: true, maxReplicas: 4}}",
                {"spec.multiNode"}}});
  expect_rule(rule::scale_bounds, isvc,
              {{scaled(", minReplicas: 4"), {}},
               {scaled(", minReplicas: 5"), {"spec.scale.minReplicas"}},
               {"spec: {scale: {minReplicas: 5, maxReplicas: 4}}", {"spec.scale.minReplicas"}}});
  expect_rule(rule::scale_max_missing, isvc,
              {{"spec: {scale: {enabled: false}}", {}},
               {"spec: {resources: {requests: {cpu: 1}}, scale: {enabled: true}}", {"spec.scale.maxReplicas"}}});
  expect_rule(
      rule::scale_needs_requests, isvc,
      {{scaled(""), {}},
       {"spec: {scale: {enabled: true, maxReplicas: 2}}", {"spec.scale.metrics"}},
       {"spec: {resources: {limits: {cpu: 1}}, scale: {enabled: true, maxReplicas: 2}}", {}},
       {scaled(", metrics: [{type: Resource, resource: {name: memory, target: {type: Utilization, averageUtilization: "
               "70}}}]"),
        {"spec.scale.metrics[0].resource.name"}},
       {scaled(
            ", metrics: [{type: Resource, resource: {name: memory, target: {type: AverageValue, averageValue: 1Gi}}}]"),
        {}}});
}

TEST(InferenceServiceRules, AMetricHasItsOwnBlockAndTarget) {
  expect_rule(
      rule::scale_metric, isvc,
      {{scaled(", metrics: [{type: Pods}]"), {"spec.scale.metrics[0].pods"}},
       {scaled(", metrics: [{type: Pods, pods: {metric: {name: a}, target: {type: AverageValue, averageValue: 1}}, "
               "resource: {name: cpu, target: {type: Utilization, averageUtilization: 1}}}]"),
        {"spec.scale.metrics[0].resource"}}});
  const auto target = [](std::string_view fields) {
    return scaled(", metrics: [{type: External, external: {metric: {name: a}, target: {" + std::string(fields) +
                  "}}}]");
  };
  const std::string at = "spec.scale.metrics[0].external.target.";
  expect_rule(rule::scale_target, isvc,
              {{target("type: Value, value: 5"), {}},
               {target("type: Value, value: 0"), {at + "value"}},
               {target("type: Value"), {at + "value"}},
               {target("type: Value, value: 5, averageValue: 5"), {at + "averageValue"}},
               {target("type: Utilization, averageUtilization: 5"), {at + "type"}}});
}

TEST(InferenceServiceRules, AGroupHasAGpuForEachPart) {
  const auto nodes = [](std::string_view fields) {
    return "spec: {resources: {limits: {nvidia.com/gpu: 8}}, multiNode: {" + std::string(fields) + "}}";
  };
  expect_rule(rule::multinode_parallelism, isvc,
              {{nodes("size: 2, tensorParallelism: 8, pipelineParallelism: 2"), {}},
               {nodes("size: 2, tensorParallelism: 16, pipelineParallelism: 1"), {}},
               {nodes("size: 2, tensorParallelism: 8, pipelineParallelism: 1"), {"spec.multiNode.tensorParallelism"}},
               {nodes("size: 2, tensorParallelism: 4"), {}},
               {nodes("size: 2, tensorParallelism: 3"), {"spec.multiNode.tensorParallelism"}},
               {nodes("size: 2, pipelineParallelism: 3"), {"spec.multiNode.pipelineParallelism"}},
               {nodes("size: 2"), {}}});
  expect_rule(rule::multinode_size_missing, isvc, {{nodes("tensorParallelism: 8"), {"spec.multiNode.size"}}});
  expect_rule(rule::multinode_size_one, isvc, {{nodes("size: 1"), {"spec.multiNode.size"}}, {nodes("size: 2"), {}}});
  const auto named = [](std::size_t length) {
    return "metadata: {name: " + std::string(length, 'a') + "}\nspec: {multiNode: {size: 2}}";
  };
  EXPECT_EQ(short_form(review_of(isvc, named(46))), std::vector<std::string>{});
  EXPECT_EQ(short_form(review_of(isvc, named(47))),
            (std::vector<std::string>{"error spec.multiNode multinode-name-too-long"}));
}

TEST(InferenceServiceRules, SixFaultsAreNamedAtOnceInDocumentOrder) {
  EXPECT_EQ(
      short_form(review_of(isvc,
                           "metadata: {name: llm.b}\n"
                           "spec: {image: {tag: 'a b'}, resources: {limits: {nvidia.com/gpu: 0}}, replicas: -1,"
                           " expose: {service: {port: 70000}}, env: [{name: 'A B'}], storage: {cache: x}}")),
      (std::vector<std::string>{"error metadata.name resource-name", "error spec.image.tag image-tag",
                                "error spec.resources.limits[nvidia.com/gpu] gpu-count",
                                "error spec.replicas schema-range", "error spec.expose.service.port schema-range",
                                "error spec.env[0].name env-name", "error spec.storage.cache schema-unknown-field"}));
}

TEST(InferenceServiceRules, SamplesHaveNoFault) {
  for (const crds::KindInfo& kind : crds::kinds) {
    const Sample full{std::string(crds::full_sample(kind.kind))};
    const Findings findings =
        review({.kind = kind.kind, .object = &full.value(), .old = nullptr, .ns = "default"}, nullptr);
    EXPECT_TRUE(findings.empty()) << kind.name << all_lines(findings);
    EXPECT_FALSE(has_errors(review_of(kind.kind, "{}"))) << kind.name << all_lines(review_of(kind.kind, "{}"));
  }
}

}  // namespace
}  // namespace stackgate::validate::tests
