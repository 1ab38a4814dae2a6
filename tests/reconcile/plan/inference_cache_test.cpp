#include <algorithm>

#include <gtest/gtest.h>

#include "tests/reconcile/plan/stack_plans.hpp"

namespace stackgate::reconcile::tests {
namespace inference_cache_plan {

constexpr crds::Kind kind = crds::Kind::inference_cache;

Tree pod_of(const Planned& planned, std::string_view name = "llm-cache") {
  const Tree& job = planned.child(ChildType::job, name);
  return job.is_null() ? job : job["spec"]["template"]["spec"];
}
Tree named(const Tree& list, std::string_view name) {
  for (const Tree& each : list)
    if (each["name"] == name) return each;
  return {};
}
/// The value of a variable of the puller, or what is under valueFrom.
Tree variable(const Planned& planned, std::string_view name) {
  const Tree found = named(pod_of(planned)["containers"][0]["env"], name);
  return found.is_null() ? found : found.contains("valueFrom") ? found["valueFrom"] : found["value"];
}
std::string told(const Planned& planned) {
  const Status& status = planned.plan.status;
  return std::string(to_string(status.state)) + " " + status.conditions.at(0).reason;
}

TEST(InferenceCachePlan, HasAClaimAJobAndWhatTheJobReportsTo) {
  const Planned planned = plan_of(minimal(kind));
  EXPECT_EQ(planned.names(),
            (std::vector<std::string>{"ConfigMap llm-cache-puller", "Job llm-cache",
                                      "PersistentVolumeClaim llm-cache-pvc", "Role llm-cache-puller",
                                      "RoleBinding llm-cache-puller", "ServiceAccount llm-cache-puller"}));
  for (const Tree& body : planned.bodies)
    EXPECT_EQ(body["metadata"]["ownerReferences"][0]["kind"], "InferenceCache")
        << "deleting the cache deletes " << body["kind"];
  EXPECT_EQ(
      planned.child(ChildType::role, "llm-cache-puller")["rules"],
      Tree::parse(
          R"([{"apiGroups":[""],"resources":["configmaps"],"verbs":["get","patch"],"resourceNames":["llm-cache-puller"]}])"));
  EXPECT_EQ(planned.plan.status.pvc, "llm-cache-pvc");
  EXPECT_EQ(told(planned), "Pending Creating");
}

TEST(InferenceCachePlan, AClaimThatIsThereIsNotMade) {
  const Planned planned = plan_of(
      minimal(kind, "spec: {storage: {pvc: {create: false, name: shared, size: null, volumeAccessMode: null}}}"));
  EXPECT_TRUE(planned.child(ChildType::persistent_volume_claim, "shared").is_null());
  EXPECT_EQ(named(pod_of(planned)["volumes"], "model-cache")["persistentVolumeClaim"],
            Tree::parse(R"({"claimName":"shared"})"));
  EXPECT_EQ(planned.plan.status.pvc, "shared");
}

TEST(InferenceCachePlan, TheJobRunsOnceAndIsNeverChanged) {
  const Planned planned = plan_of(minimal(kind));
  const Tree& job = planned.child(ChildType::job, "llm-cache");
  EXPECT_EQ(job["spec"]["backoffLimit"], 5);
  EXPECT_FALSE(job["spec"].contains("ttlSecondsAfterFinished"))
      << "a Job that vanishes would be made again without end";
  EXPECT_EQ(pod_of(planned)["restartPolicy"], "Never");
  const auto is_job = [](const DesiredChild& child) { return child.type == ChildType::job; };
  EXPECT_TRUE(std::ranges::find_if(planned.plan.children, is_job)->keep) << "a Job's template cannot be changed";
  EXPECT_EQ(pod_of(planned)["serviceAccountName"], "llm-cache-puller");
  EXPECT_FALSE(pod_of(planned).contains("automountServiceAccountToken")) << "it reports through the API server";
  EXPECT_FALSE(pod_of(planned).contains("topologySpreadConstraints"));
}

TEST(InferenceCachePlan, TheDownloadIsToldWhatToTake) {
  const Planned full_plan = plan_of(full(kind, "metadata: {name: llm-cache}"));
  const auto expect = [&](std::string_view name, std::string_view value) {
    EXPECT_EQ(variable(full_plan, name), value) << name;
  };
  expect("STACKGATE_PULL_SOURCE", "registry");
  expect("STACKGATE_PULL_ENDPOINT", "https://models.example.com");
  expect("STACKGATE_PULL_ENGINE", "tensorrt_llm");
  expect("STACKGATE_PULL_TENSOR_PARALLELISM", "8");
  expect("STACKGATE_PULL_PRECISION", "fp8");
  expect("STACKGATE_PULL_LORA", "true");
  expect("STACKGATE_PULL_TARGET", "/model-store");
  expect("STACKGATE_PULL_PROGRESS", "llm-cache-puller");
  EXPECT_EQ(variable(full_plan, "STACKGATE_NAMESPACE")["fieldRef"]["fieldPath"], "metadata.namespace");
  EXPECT_EQ(variable(full_plan, "REGISTRY_API_KEY")["secretKeyRef"],
            Tree::parse(R"({"name":"registry-api","key":"REGISTRY_API_KEY"})"));
  const Planned profiles =
      plan_of(minimal(kind, R"(spec: {source: {registry: {model: {profiles: ["a, b", 'c$(D)']}}}})"));
  EXPECT_EQ(variable(profiles, "STACKGATE_PULL_PROFILES"), R"j(["a, b","c$$(D)"])j");
  EXPECT_TRUE(variable(profiles, "STACKGATE_PULL_LORA").is_null());
}

TEST(InferenceCachePlan, TheDownloadMayComeFromADatastore) {
  const Planned planned =
      plan_of(minimal(kind,
                      "spec: {source: {registry: null, datastore: {endpoint: 'http://datastore:8000', repository: "
                      "team/llm, revision: v1, authSecret: store}}}"));
  EXPECT_EQ(variable(planned, "STACKGATE_PULL_SOURCE"), "datastore");
  EXPECT_EQ(variable(planned, "STACKGATE_PULL_ENDPOINT"), "http://datastore:8000");
  EXPECT_EQ(variable(planned, "STACKGATE_PULL_REPOSITORY"), "team/llm");
  EXPECT_EQ(variable(planned, "STACKGATE_PULL_REVISION"), "v1");
  EXPECT_EQ(variable(planned, "DATASTORE_PASSWORD")["secretKeyRef"],
            Tree::parse(R"({"name":"store","key":"DATASTORE_PASSWORD"})"));
  EXPECT_EQ(variable(planned, "DATASTORE_USERNAME")["secretKeyRef"]["key"], "DATASTORE_USERNAME");
  EXPECT_TRUE(variable(planned, "REGISTRY_API_KEY").is_null());
  EXPECT_EQ(pod_of(planned)["containers"][0]["image"], "registry.example.com/stackgate/puller:0.1.0")
      << "the operator's own";
  EXPECT_EQ(pod_of(planned)["containers"][0]["securityContext"]["readOnlyRootFilesystem"], true);
}

TEST(InferenceCachePlan, TheProxyIsToldInBothCasesOfLetters) {
  const Planned planned = plan_of(full(kind, "metadata: {name: llm-cache}"));
  for (const std::string_view name : {"HTTP_PROXY", "http_proxy", "HTTPS_PROXY", "https_proxy"})
    EXPECT_EQ(variable(planned, name), "http://proxy.example.com:3128") << name;
  for (const std::string_view name : {"NO_PROXY", "no_proxy"})
    EXPECT_EQ(variable(planned, name), "localhost,127.0.0.1,10.0.0.0/8,fd00::/8,.svc,.cluster.local") << name;
  EXPECT_EQ(named(pod_of(planned)["volumes"], "ca")["configMap"]["name"], "company-ca");
  EXPECT_EQ(variable(planned, "STACKGATE_PULL_CA_DIR"), "/etc/stackgate/ca");
  const Planned plain = plan_of(
      full(kind, "{metadata: {name: llm-cache}, spec: {proxy: {caConfigMap: null, noProxy: null, httpProxy: null}}}"));
  EXPECT_TRUE(variable(plain, "STACKGATE_PULL_CA_DIR").is_null());
  EXPECT_TRUE(variable(plain, "NO_PROXY").is_null());
  EXPECT_EQ(variable(plain, "https_proxy"), "http://proxy.example.com:3128")
      << "a proxy without an authority of its own works";
}

TEST(InferenceCachePlan, TheFilesBelongToWhomTheUserNames) {
  const Tree context = pod_of(plan_of(full(kind, "metadata: {name: llm-cache}")))["securityContext"];
  EXPECT_EQ(context["runAsUser"], 1000);
  EXPECT_EQ(context["runAsGroup"], 2000);
  EXPECT_EQ(context["fsGroup"], 2000);
  EXPECT_EQ(context["runAsNonRoot"], true);
  EXPECT_EQ(context["seccompProfile"]["type"], "RuntimeDefault");
  const Tree plain = pod_of(plan_of(minimal(kind)))["securityContext"];
  EXPECT_FALSE(plain.contains("runAsUser"));
  EXPECT_EQ(plain["fsGroup"], 65532) << "a fresh volume belongs to root";
}

TEST(InferenceCachePlan, ThePodRunsWhereAndWithWhatTheUserSays) {
  const Planned planned = plan_of(full(kind, "metadata: {name: llm-cache}"));
  const Tree pod = pod_of(planned), puller = pod["containers"][0];
  EXPECT_EQ(puller["image"], "registry.example.com/inference/llm-70b:1.8.3");
  EXPECT_EQ(pod["imagePullSecrets"], Tree::parse(R"([{"name":"registry-pull"}])"));
  EXPECT_EQ(puller["resources"],
            Tree::parse(R"({"limits":{"cpu":"4","memory":"16Gi"},"requests":{"cpu":"1","memory":"4Gi"}})"));
  EXPECT_EQ(pod["nodeSelector"], Tree::parse(R"({"kubernetes.io/arch":"amd64"})"));
  EXPECT_EQ(pod["tolerations"].size(), 1U);
  EXPECT_EQ(named(puller["volumeMounts"], "model-cache"),
            Tree::parse(R"({"name":"model-cache","mountPath":"/model-store","subPath":"models/llm-70b"})"));
}

TEST(InferenceCachePlan, WithoutAnyPullerNothingIsStarted) {
  World world;
  world.settings.images.clear();
  const Planned planned = plan_of(minimal(kind, "spec: {source: {registry: {modelPuller: null}}}"), world);
  EXPECT_TRUE(planned.child(ChildType::job, "llm-cache").is_null());
  EXPECT_EQ(told(planned), "Failed NoImage");
}

constexpr std::string_view claim = "{metadata: {creationTimestamp: '2026-11-20T10:00:00Z'}, status: {phase: Bound}}";
constexpr std::string_view complete =
    "{status: {completionTime: '2026-11-20T11:00:00Z', conditions: [{type: Complete, status: 'True'}]}}";
constexpr std::string_view failed = "{status: {failed: 6, conditions: [{type: Failed, status: 'True', message: no}]}}";
constexpr std::string_view was_ready =
    "status: {state: Ready, conditions: [{type: Ready, status: 'True', lastTransitionTime: '2026-11-20T11:00:00Z'}]}";

TEST(InferenceCachePlan, AFailedJobIsLeftUntilTheUserDeletesIt) {
  World world;
  world.add(ChildType::persistent_volume_claim, "llm-cache-pvc", claim);
  EXPECT_EQ(told(plan_of(minimal(kind, "status: {state: Failed}"), world)), "PVCCreated ClaimCreated");
  EXPECT_FALSE(pod_of(plan_of(minimal(kind, "status: {state: Failed}"), world)).is_null()) << "one new Job";
  world.add(ChildType::job, "llm-cache", failed);
  const Planned planned = plan_of(minimal(kind), world);
  EXPECT_EQ(told(planned), "Failed DownloadFailed");
  EXPECT_FALSE(pod_of(planned).is_null()) << "it would be pruned otherwise";
}

TEST(InferenceCachePlan, AFilledCacheNeedsNoJobAnyMore) {
  World world;
  world.add(ChildType::persistent_volume_claim, "llm-cache-pvc", claim);
  const Planned planned = plan_of(minimal(kind, was_ready), world);
  EXPECT_TRUE(pod_of(planned).is_null());
  EXPECT_EQ(told(planned), "Ready Downloaded");
  world.add(ChildType::job, "llm-cache", complete);
  EXPECT_EQ(told(plan_of(minimal(kind), world)), "Ready Downloaded");
  EXPECT_FALSE(pod_of(plan_of(minimal(kind), world)).is_null());
}

TEST(InferenceCachePlan, AClaimThatIsGoneIsToldAndFilledAgain) {
  const Planned planned = plan_of(minimal(kind, was_ready));
  EXPECT_EQ(told(planned), "NotReady ClaimNotFound");
  EXPECT_FALSE(pod_of(planned).is_null());
  World world;
  world.observed.findings = {};
  const std::string shared =
      std::string("{spec: {storage: {pvc: {create: false, name: shared}}}, ") + std::string(was_ready) + "}";
  EXPECT_EQ(told(plan_of(minimal(kind, shared), world)), "Ready Downloaded") << "nothing is known of it";
  validate::Finding missing;
  missing.rule = "claim-missing";
  missing.severity = validate::Severity::warning;
  missing.path = "spec.storage.pvc.name";
  const validate::Findings findings{missing};
  world.observed.findings = findings;
  EXPECT_EQ(told(plan_of(minimal(kind, shared), world)), "NotReady ClaimNotFound");
}

TEST(InferenceCachePlan, SomebodyElsesObjectsAreLeftAlone) {
  for (const auto& [type, name] : {std::pair{ChildType::job, "llm-cache"},
                                   {ChildType::persistent_volume_claim, "llm-cache-pvc"},
                                   {ChildType::config_map, "llm-cache-puller"}}) {
    World world;
    world.add(type, name, complete, false);
    EXPECT_EQ(told(plan_of(minimal(kind), world)), "Failed NameTaken") << name;
  }
}

TEST(InferenceCachePlan, ProgressComesFromTheConfigMapOfThePuller) {
  World world;
  world.add(ChildType::job, "llm-cache", "{status: {active: 1}}");
  world.add(ChildType::config_map, "llm-cache-puller", "{data: {downloadedBytes: '50', totalBytes: '200'}}");
  const PodFacts pods[] = {{.name = "x", .phase = "Running"}};
  world.observed.pods = pods;
  const Planned planned = plan_of(minimal(kind), world);
  EXPECT_EQ(told(planned), "InProgress Downloading");
  EXPECT_EQ(planned.plan.status.progress.value().total_bytes, 200);
}

}  // namespace inference_cache_plan
}  // namespace stackgate::reconcile::tests
