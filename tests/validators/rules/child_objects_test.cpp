// What the API server would refuse of a pod, an autoscaler or a route is refused in the resource, and nothing else.
#include <gtest/gtest.h>

#include "tests/validators/rules/rule_cases.hpp"
#include "validators/rule_ids.hpp"

namespace stackgate::validate::tests {
namespace {

constexpr crds::Kind isvc = crds::Kind::inference_service;

std::string security(std::string_view context) { return "spec: {podSecurityContext: {" + std::string(context) + "}}"; }

TEST(ChildObjects, ALocalFilterStaysInItsDirectory) {
  const auto profile = [](std::string_view path) {
    return security("seccompProfile: {type: Localhost, localhostProfile: '" + std::string(path) + "'}");
  };
  const std::vector<std::string_view> bad{"spec.podSecurityContext.seccompProfile.localhostProfile"};
  expect_rule(rule::seccomp_profile, isvc,
              {{profile("profiles/llm.json"), {}},
               {profile("/var/lib/kubelet/seccomp/llm.json"), bad},
               {profile("../llm.json"), bad}});
}

TEST(ChildObjects, AKernelSettingIsSetOnce) {
  expect_rule(
      rule::sysctl_name, isvc,
      {{security("sysctls: [{name: net.core.somaxconn, value: '1'}, {name: kernel.shm_rmid_forced, value: '1'}]"), {}},
       {security("sysctls: [{name: net.core.somaxconn, value: '1'}, {name: net.core.somaxconn, value: '2'}]"),
        {"spec.podSecurityContext.sysctls[1].name"}}});
}

TEST(ChildObjects, AMetricsNameIsOnePartOfAPath) {
  const auto pods = [](std::string_view name) {
    return "spec: {scale: {enabled: true, maxReplicas: 2, metrics: [{type: Pods, pods: {metric: {name: '" +
           std::string(name) + "'}, target: {type: AverageValue, averageValue: 1}}}]}}";
  };
  const std::vector<std::string_view> bad{"spec.scale.metrics[0].pods.metric.name"};
  expect_rule(rule::scale_metric, isvc,
              {{pods("vllm:num_requests_waiting"), {}},
               {pods("queue.length-1"), {}},
               {pods("queue/length"), bad},
               {pods("100%"), bad},
               {pods(".."), bad}});
}

TEST(ChildObjects, AMetricsObjectHasAPlainKind) {
  const auto object = [](std::string_view kind) {
    return "spec: {scale: {enabled: true, maxReplicas: 2, metrics: [{type: Object, object: {describedObject: {kind: " +
           std::string(kind) + ", name: x}, metric: {name: m}, target: {type: Value, value: 1}}}]}}";
  };
  expect_rule(rule::scale_metric, isvc,
              {{object("Service"), {}}, {object("v1/Service"), {"spec.scale.metrics[0].object.describedObject.kind"}}});
}

TEST(ChildObjects, ARouteNamesEachListenerOnce) {
  const auto route = [](std::string_view parents) {
    return "spec: {expose: {httpRoute: {enabled: true, parentRefs: [" + std::string(parents) + "]}}}";
  };
  const std::vector<std::string_view> bad{"spec.expose.httpRoute.parentRefs[1]"};
  expect_rule(rule::route_parent_twice, isvc,
              {{route("{name: a}, {name: b}"), {}},
               {route("{name: a, namespace: one}, {name: a, namespace: two}"), {}},
               {route("{name: a, sectionName: http}, {name: a, sectionName: https}"), {}},
               {route("{name: a}, {name: a}"), bad},
               {route("{name: a}, {name: a, sectionName: https}"), bad},
               {route("{name: a, sectionName: https}, {name: a, sectionName: https}"), bad}});
}

TEST(ChildObjects, ANodeIsMatchedByANameThatNodesCanHave) {
  const auto node = [](std::string_view name) {
    return "spec: {affinity: {nodeAffinity: {requiredDuringSchedulingIgnoredDuringExecution: {nodeSelectorTerms: "
           "[{matchFields: [{key: metadata.name, operator: In, values: ['" +
           std::string(name) + "']}]}]}}}}";
  };
  expect_rule(rule::object_name, isvc,
              {{node("ip-10-0-100-100.eu-central-1.compute.internal.a-long-domain.example.com"), {}},
               {node("Node 1"),
                {"spec.affinity.nodeAffinity.requiredDuringSchedulingIgnoredDuringExecution.nodeSelectorTerms[0]."
                 "matchFields[0].values[0]"}}});
}

TEST(ChildObjects, AContainerReadsItsResourcesInKnownUnits) {
  const auto read = [](std::string_view resource, std::string_view divisor) {
    return "spec: {env: [{name: A, valueFrom: {resourceFieldRef: {resource: " + std::string(resource) + ", divisor: '" +
           std::string(divisor) + "'}}}]}";
  };
  const std::vector<std::string_view> bad{"spec.env[0].valueFrom.resourceFieldRef.divisor"};
  expect_rule(rule::env_field_path, isvc,
              {{read("limits.cpu", "1"), {}},
               {read("limits.cpu", "1m"), {}},
               {read("limits.cpu", "0"), {}},
               {read("limits.memory", "1Mi"), {}},
               {read("limits.memory", "1024Ki"), {}},
               {read("requests.ephemeral-storage", "1G"), {}},
               {read("limits.cpu", "1Gi"), bad},
               {read("limits.memory", "1m"), bad},
               {read("limits.memory", "2Mi"), bad},
               {read("limits.memory", "1024"), bad}});
}

TEST(ChildObjects, AFieldOfThePodIsWrittenAsThePodHasIt) {
  const auto field = [](std::string_view reference) {
    return "spec: {env: [{name: A, valueFrom: {fieldRef: {" + std::string(reference) + "}}}]}";
  };
  expect_rule(rule::env_field_path, isvc,
              {{field("fieldPath: \"metadata.labels['app.kubernetes.io/name']\""), {}},
               {field("apiVersion: v1, fieldPath: metadata.name"), {}},
               {field("fieldPath: \"metadata.labels['a b']\""), {"spec.env[0].valueFrom.fieldRef.fieldPath"}},
               {field("apiVersion: v2, fieldPath: metadata.name"), {"spec.env[0].valueFrom.fieldRef.apiVersion"}}});
}

TEST(ChildObjects, EveryClaimHasASize) {
  expect_rule(rule::pvc_size_zero, crds::Kind::stack_customizer,
              {{"spec: {trainingConfig: {workspacePVC: {size: 1Gi}}}", {}},
               {"spec: {trainingConfig: {workspacePVC: {size: '0'}}}", {"spec.trainingConfig.workspacePVC.size"}}});
  expect_rule(rule::memory_fraction, crds::Kind::inference_cache,
              {{"spec: {storage: {pvc: {size: 500M}}}", {}},
               {"spec: {storage: {pvc: {size: 500m}}}", {"spec.storage.pvc.size"}}});
}

TEST(ChildObjects, AVariableOfADependencyIsNoneOfTheOperators) {
  const auto dependency = [](std::string_view name) {
    return "spec: {services: [{name: a, spec: {image: {repository: r.io/a, tag: '1'}, authSecret: s, resources: "
           "{limits: {nvidia.com/gpu: 1}}}, dependencies: [{name: b, envName: " +
           std::string(name) +
           "}]}, {name: b, spec: {image: {repository: r.io/a, tag: '1'}, authSecret: s, resources: {limits: "
           "{nvidia.com/gpu: 1}}}}]}";
  };
  expect_rule(
      rule::env_reserved, crds::Kind::inference_pipeline,
      {{dependency("B_URL"), {}}, {dependency("REGISTRY_API_KEY"), {"spec.services[0].dependencies[0].envName"}}});
}

}  // namespace
}  // namespace stackgate::validate::tests
