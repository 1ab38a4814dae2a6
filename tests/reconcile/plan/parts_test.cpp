// The building blocks of all plans, through plans of small resources.
#include <gtest/gtest.h>

#include "services/kit/json/parse.hpp"
#include "tests/reconcile/plan/stack_plans.hpp"

namespace stackgate::reconcile::tests {
namespace parts_test {

using crds::Kind;

const Tree& pod_of(const Planned& planned) {
  for (std::size_t i = 0; i < planned.bodies.size(); ++i)
    if (planned.plan.children[i].type == ChildType::deployment) return planned.bodies[i].at("spec").at("template");
  throw std::runtime_error("no Deployment");
}

Planned service(std::string_view patch) { return plan_of(minimal(Kind::inference_service, patch)); }

TEST(PlanParts, WhatTheApiServerWouldLeaveOutIsNotWritten) {
  const Planned planned = service(
      "spec: {nodeSelector: {}, tolerations: [{key: '', operator: Exists, value: }], env: [{name: A, value: ''}],"
      " labels: {a: ''}, affinity: {podAffinity: {requiredDuringSchedulingIgnoredDuringExecution:"
      " [{topologyKey: t, labelSelector: {}, namespaces: []}]}}}");
  const Tree& pod = pod_of(planned);
  EXPECT_FALSE(pod["spec"].contains("nodeSelector"));
  EXPECT_EQ(pod["spec"]["tolerations"].dump(), R"([{"operator":"Exists"}])");
  EXPECT_EQ(planned.variable("A"), "");
  EXPECT_EQ(pod["metadata"]["labels"]["a"], "") << "an empty label is a label";
  EXPECT_EQ(
      pod["spec"]["affinity"].dump(),
      R"({"podAffinity":{"requiredDuringSchedulingIgnoredDuringExecution":[{"labelSelector":{},"topologyKey":"t"}]}})")
      << "an empty selector selects everything and must stay";
}

TEST(PlanParts, QuantitiesAreWrittenAsTheApiServerGivesThemBack) {
  const Planned planned = service(
      "spec: {resources: {limits: {nvidia.com/gpu: 1, cpu: 1000m, memory: 1024Mi}, requests: {cpu: '0.5', memory: "
      "'1e6'}}}");
  EXPECT_EQ(planned.container()["resources"].dump(),
            R"({"limits":{"cpu":"1","memory":"1Gi","nvidia.com/gpu":"1"},"requests":{"cpu":"500m","memory":"1e6"}})");
}

TEST(PlanParts, ANullAmongAmountsIsNoAmountAndAmongTextsTheEmptyOne) {
  Tree object = minimal(Kind::inference_service,
                        "spec: {resources: {limits: {nvidia.com/gpu: 1}, requests: {}}, nodeSelector: {gpu-node: ''}}");
  object["spec"]["resources"]["limits"]["memory"] = nullptr;
  object["spec"]["resources"]["limits"]["amd.com/gpu"] = nullptr;
  object["spec"]["resources"]["requests"]["cpu"] = nullptr;
  object["spec"]["nodeSelector"]["gpu-node"] = nullptr;  // what a 1.20 server may make of ""
  const Planned planned = plan_of(object);
  EXPECT_EQ(planned.container()["resources"].dump(), R"({"limits":{"nvidia.com/gpu":"1"}})");
  EXPECT_EQ(pod_of(planned)["spec"]["nodeSelector"].dump(), R"({"gpu-node":""})");
}

TEST(PlanParts, TheOrderOfMembersInTheSpecDoesNotMatter) {
  const Planned one = service("spec: {nodeSelector: {a: x, b: y}, podSecurityContext: {fsGroup: 1, runAsUser: 2}}");
  const Planned other = service("spec: {podSecurityContext: {runAsUser: 2, fsGroup: 1}, nodeSelector: {b: y, a: x}}");
  EXPECT_EQ(as_list(one), as_list(other));
}

TEST(PlanParts, LabelsOfTheOperatorCannotBeTakenOver) {
  const Planned planned = service("spec: {labels: {app: other, team: research}}");
  EXPECT_EQ(pod_of(planned)["metadata"]["labels"]["app"], "llm");
  EXPECT_EQ(pod_of(planned)["metadata"]["labels"]["team"], "research");
}

TEST(PlanParts, PodsAreAsStrictAsTheUserLetsThemBe) {
  const auto context = [](std::string_view user) {
    return pod_of(service("spec: {podSecurityContext: " + std::string(user) + "}"))["spec"]["securityContext"].dump();
  };
  EXPECT_EQ(context("{}"), R"({"runAsNonRoot":true,"seccompProfile":{"type":"RuntimeDefault"}})");
  EXPECT_EQ(context("{runAsUser: 0}"), R"({"runAsUser":0,"seccompProfile":{"type":"RuntimeDefault"}})")
      << "root was asked for: runAsNonRoot would keep the pod from ever starting";
  EXPECT_EQ(context("{runAsNonRoot: false, seccompProfile: {type: Unconfined}}"),
            R"({"runAsNonRoot":false,"seccompProfile":{"type":"Unconfined"}})");
}

TEST(PlanParts, AnAffinityOfTheUserDecidesAlone) {
  EXPECT_EQ(pod_of(service("{}"))["spec"]["topologySpreadConstraints"].size(), 2U);
  EXPECT_FALSE(
      pod_of(service("spec: {affinity: {podAntiAffinity: {}}}"))["spec"].contains("topologySpreadConstraints"));
}

TEST(PlanParts, TheRolloutNeverNeedsAGpuTwice) {
  const auto strategy = [](const Planned& planned, std::string_view name) {
    return planned.child(ChildType::deployment, name)["spec"]["strategy"].dump();
  };
  EXPECT_EQ(strategy(service("{}"), "llm"),
            R"({"type":"RollingUpdate","rollingUpdate":{"maxSurge":0,"maxUnavailable":"25%"}})");
  EXPECT_EQ(strategy(plan_of(minimal(Kind::stack_guardrail)), "guardrail"),
            R"({"type":"RollingUpdate","rollingUpdate":{"maxSurge":"25%","maxUnavailable":0}})");
}

TEST(PlanParts, AnAutoscalersNumberOfReplicasIsLeftToIt) {
  constexpr std::string_view scaled = "spec: {scale: {enabled: true, minReplicas: 2, maxReplicas: 5}}";
  const auto replicas = [&](std::string_view live) {
    World world;
    if (!live.empty()) world.add(ChildType::deployment, "llm", live);
    const Planned planned = plan_of(minimal(Kind::inference_service, scaled), world);
    for (const DesiredChild& child : planned.plan.children)
      EXPECT_EQ(child.follows_live_replicas, child.type == ChildType::deployment);
    return planned.child(ChildType::deployment, "llm")["spec"]["replicas"].get<int>();
  };
  EXPECT_EQ(replicas(""), 2);
  EXPECT_EQ(replicas("spec: {replicas: 4}"), 4);
  EXPECT_EQ(replicas("spec: {replicas: 9}"), 5);
  EXPECT_EQ(replicas("spec: {replicas: 0}"), 2) << "an autoscaler never wakes a Deployment of 0";
}

TEST(PlanParts, TheAutoscalerIsOfTheVersionThatIsServedAndKeepsTheOrderThatIsStored) {
  World world;
  world.observed.served.autoscaling = "autoscaling/v2beta2";
  const Planned planned =
      plan_of(minimal(Kind::inference_service,
                      "spec: {scale: {enabled: true, maxReplicas: 5, metrics: ["
                      "{type: Resource, resource: {name: cpu, target: {type: Utilization, averageUtilization: 50}}},"
                      "{type: Pods, pods: {metric: {name: a}, target: {type: AverageValue, averageValue: 1000m}}}]}}"),
              world);
  const Tree& scaler = planned.child(ChildType::horizontal_pod_autoscaler, "llm");
  EXPECT_EQ(scaler["apiVersion"], "autoscaling/v2beta2");
  EXPECT_EQ(scaler["spec"]["metrics"][0]["pods"]["target"]["averageValue"], "1");
  EXPECT_EQ(scaler["spec"]["metrics"][1]["type"], "Resource");
}

TEST(PlanParts, MetricsAreASecondPortWithANumberOfItsOwn) {
  const auto ports = [](int port) {
    const Planned planned =
        service("spec: {metrics: {enabled: true}, expose: {service: {port: " + std::to_string(port) + "}}}");
    const Tree& all = planned.child(ChildType::service, "llm")["spec"]["ports"];
    return all[0].value("name", "") + std::to_string(all[0].value("port", 0)) + " " + all[1].value("name", "") +
           std::to_string(all[1].value("port", 0)) + " " + all[1].value("targetPort", "");
  };
  EXPECT_EQ(ports(8000), "api8000 metrics8080 api");
  EXPECT_EQ(ports(8080), "api8080 metrics9090 api");
}

TEST(PlanParts, TheServiceMonitorIsTheSpecifications) {
  const Planned planned = service(
      "spec: {metrics: {enabled: true, serviceMonitor: {additionalLabels: {release: p}, interval: 30s, scrapeTimeout: "
      "10s}}}");
  const Tree& monitor = planned.child(ChildType::service_monitor, "llm");
  EXPECT_EQ(monitor["spec"].dump(),
            R"({"selector":{"matchLabels":{"app":"llm"}},"endpoints":)"
            R"([{"port":"metrics","path":"/v1/metrics","interval":"30s","scrapeTimeout":"10s"}]})");
  EXPECT_EQ(monitor["metadata"]["labels"]["app.kubernetes.io/name"], "llm");
  EXPECT_EQ(monitor["metadata"]["labels"]["release"], "p");
}

TEST(PlanParts, WithoutAnOptionalApiItsChildIsLeftOutAndTold) {
  World world;
  world.observed.served.service_monitors = world.observed.served.http_routes = false;
  const Planned planned = plan_of(
      minimal(Kind::inference_service, "spec: {metrics: {enabled: true}, expose: {httpRoute: {enabled: true}}}"),
      world);
  EXPECT_TRUE(planned.child(ChildType::service_monitor, "llm").is_null());
  EXPECT_FALSE(planned.child(ChildType::deployment, "llm").is_null());
  const auto& conditions = planned.plan.status.conditions;
  ASSERT_EQ(conditions.size(), 2U);
  EXPECT_EQ(conditions[0].type, "Ready");
  EXPECT_EQ(conditions[1].reason, "NotInstalled");
  EXPECT_NE(conditions[1].message.find("Prometheus Operator"), std::string::npos);
  EXPECT_NE(conditions[1].message.find("Gateway API"), std::string::npos);
}

TEST(PlanParts, PodsRestartWhenAnInputChanges) {
  const auto annotation = [](std::string_view hash) {
    World world;
    const InputFacts input{ChildType::secret, "registry-api", std::string(hash)};
    world.observed.inputs = {&input, 1};
    return pod_of(plan_of(minimal(Kind::inference_service), world))["metadata"]["annotations"]["stackgate.dev/inputs"]
        .get<std::string>();
  };
  EXPECT_EQ(annotation("a"), annotation("a"));
  EXPECT_NE(annotation("a"), annotation("b"));
}

TEST(PlanParts, AWithoutRightsPodGetsNoToken) {
  EXPECT_EQ(pod_of(service("{}"))["spec"]["automountServiceAccountToken"], false);
  const Planned own = service("spec: {serviceAccountName: mine}");
  EXPECT_FALSE(pod_of(own)["spec"].contains("automountServiceAccountToken")) << "the user's account decides";
  EXPECT_TRUE(own.child(ChildType::service_account, "llm").is_null());
}

TEST(PlanParts, AClaimIsMadeOnceAndMayGrow) {
  constexpr std::string_view pvc = "spec: {configStore: {pvc: {create: true, size: 2Gi}}}";
  const auto kept = [&](std::string_view live) {
    World world;
    if (!live.empty()) world.add(ChildType::persistent_volume_claim, "guardrail-config", live, false);
    const Planned planned = plan_of(full(Kind::stack_guardrail, pvc), world);
    for (const DesiredChild& child : planned.plan.children)
      if (child.type == ChildType::persistent_volume_claim) return child.keep;
    return false;
  };
  EXPECT_TRUE(kept(""));
  EXPECT_TRUE(kept("spec: {resources: {requests: {storage: 2048Mi}}}"));
  EXPECT_FALSE(kept("spec: {resources: {requests: {storage: 1Gi}}}"));
  EXPECT_TRUE(kept("spec: {resources: {requests: {storage: 5Gi}}}")) << "a claim cannot shrink";
}

TEST(PlanParts, WithoutAnyImageNothingStartsAndTheStatusSaysHowToNameOne) {
  World world;
  world.settings.images.clear();
  const Tree object = minimal(Kind::stack_guardrail, "spec: {image: }");
  const Planned planned = plan_of(object, world);
  EXPECT_TRUE(planned.child(ChildType::deployment, "guardrail").is_null());
  EXPECT_EQ(planned.plan.status.state, State::failed);
  EXPECT_EQ(planned.plan.status.conditions.at(0).reason, "ImageMissing");
  world.add(ChildType::deployment, "guardrail", "{}");
  EXPECT_FALSE(plan_of(object, world).child(ChildType::deployment, "guardrail").is_null()) << "what runs stays";
}

Plan plan_with(const Tree& object, bool deleting, const validate::Findings& findings) {
  const std::string text = object.dump();
  json::Document document;
  const json::Value root = json::parse(text, document).value();
  Observed observed;
  observed.findings = findings;
  return make_plan({.kind = Kind::inference_service,
                    .ns = "team",
                    .name = "llm",
                    .uid = "u",
                    .deleting = deleting,
                    .object = &root,
                    .spec = root.find("spec"),
                    .status = root.find("status")},
                   observed, {});
}

TEST(MakePlan, AResourceThatLeavesIsNotTouched) {
  const Plan plan = plan_with(minimal(Kind::inference_service), true, {});
  EXPECT_FALSE(plan.acts);
  EXPECT_TRUE(plan.children.empty());
  EXPECT_TRUE(plan.events.empty());
}

TEST(MakePlan, ARefusedResourceFailsWithTheGatesWordsAndItsChildrenAreLeftAlone) {
  const validate::Findings findings{
      {.rule = "gpu-missing", .path = "spec.resources", .problem = "no GPU is asked for", .fix = "limit one"},
      {.rule = "image-latest", .severity = validate::Severity::warning, .path = "spec.image.tag", .problem = "moves"}};
  const Plan plan = plan_with(minimal(Kind::inference_service), false, findings);
  EXPECT_FALSE(plan.acts);
  EXPECT_TRUE(plan.children.empty());
  EXPECT_EQ(plan.status.state, State::failed);
  EXPECT_EQ(plan.status.conditions.at(0).message, "spec.resources: no GPU is asked for; limit one [gpu-missing]");
  ASSERT_EQ(plan.events.size(), 1U);
  EXPECT_EQ(plan.events[0].reason, plan.status.conditions[0].reason);
}

TEST(MakePlan, WhatTheStoredStatusSaysAlreadyIsNoNews) {
  const validate::Findings findings{{.rule = "r", .path = "spec", .problem = "bad", .fix = "mend"}};
  Tree object = minimal(Kind::inference_service);
  object["status"]["conditions"] = {
      {{"type", "Ready"}, {"status", "False"}, {"reason", "Invalid"}, {"message", "spec: bad; mend [r]"}}};
  EXPECT_TRUE(plan_with(object, false, findings).events.empty());
  object["status"]["conditions"][0]["message"] = "another fault";
  EXPECT_EQ(plan_with(object, false, findings).events.size(), 1U);
}

TEST(MakePlan, StepsOnTheWayAreNoWarnings) {
  const auto events = [](const Plan& plan) {
    std::string out;
    for (const EventNote& each : plan.events) out += (each.warning ? "!" : "") + each.reason + " ";
    return out;
  };
  World cache;
  cache.add(ChildType::persistent_volume_claim, "llm-cache-pvc", "{status: {phase: Pending}}");
  EXPECT_EQ(events(plan_of(minimal(Kind::inference_cache), cache).plan), "") << "the claim is there";
  EXPECT_EQ(events(plan_of(minimal(Kind::inference_pipeline)).plan), "") << "its services are being made";
  World store;
  store.settings.images.emplace("datastore", "registry.example.com/datastore:1");
  store.add(ChildType::persistent_volume_claim, "datastore-pvc", "{status: {phase: Pending}}");
  EXPECT_EQ(events(plan_of(minimal(Kind::stack_datastore), store).plan), "ClaimPending ") << "it may wait for ever";
  World taken;
  taken.add(ChildType::deployment, "llm", "{}", false);
  EXPECT_EQ(events(plan_of(minimal(Kind::inference_service), taken).plan), "!NameTaken ");
}

TEST(MakePlan, AWarningRefusesNothing) {
  const validate::Findings findings{{.rule = "image-latest", .severity = validate::Severity::warning, .path = "spec"}};
  EXPECT_FALSE(plan_with(minimal(Kind::inference_service), false, findings).children.empty());
}

std::string inputs(const Tree& object) {
  const std::string text = object["spec"].dump();
  json::Document document;
  const json::Value spec = json::parse(text, document).value();
  std::string out;
  for (const InputFacts& each : inputs_of(crds::kind_named(object["kind"].get<std::string>()).value(), spec))
    out += (out.empty() ? "" : " ") + std::string(info(each.type).kind) + "/" + each.name;
  return out;
}

TEST(InputsOf, WhatPodsReadIsNamedOnce) {
  EXPECT_EQ(inputs(full(Kind::inference_service)), "Secret/registry-api Secret/license ConfigMap/features");
  EXPECT_EQ(inputs(full(Kind::stack_guardrail)),
            "Secret/hosted-inference Secret/guardrail-db Secret/license ConfigMap/features");
  EXPECT_EQ(inputs(minimal(Kind::inference_service,
                           "spec: {env: [{name: A, valueFrom: {secretKeyRef: {name: registry-api, key: a}}}]}")),
            "Secret/registry-api");
  EXPECT_EQ(inputs(full(Kind::inference_cache)), "") << "a Job reads anew when it is made anew";
  EXPECT_EQ(inputs(full(Kind::inference_pipeline)), "") << "its services have inputs of their own";
}

}  // namespace parts_test
}  // namespace stackgate::reconcile::tests
