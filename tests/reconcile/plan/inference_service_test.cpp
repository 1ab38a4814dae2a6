// What an InferenceService becomes, by what is written and what is observed.
#include <gtest/gtest.h>

#include "tests/reconcile/plan/stack_plans.hpp"

namespace stackgate::reconcile::tests {
namespace inference_service_test {

constexpr crds::Kind kind = crds::Kind::inference_service;
constexpr std::string_view with_cache = "spec: {storage: {nimCache: {name: llm-cache, profile: tp8}}}";
constexpr std::string_view on_nodes = "spec: {replicas: 2, multiNode: {size: 3}}";

void set_cache(World& world, std::string_view state, std::string_view message = {}) {
  world.observed.cache = {.exists = !state.empty(),
                          .state = std::string(state),
                          .claim = state.empty() ? "" : "models",
                          .sub_path = {},
                          .message = std::string(message)};
}

const Condition& ready_of(const Planned& planned) { return planned.plan.status.conditions.at(0); }

std::string text_at(const Tree& tree, std::string_view pointer) {
  const Tree::json_pointer place{std::string(pointer)};
  return tree.contains(place) ? tree.at(place).dump() : "";
}

Tree variable(const Tree& template_, std::string_view name) {
  for (const Tree& each : template_["spec"]["containers"][0]["env"])
    if (each["name"] == name) return each;
  return {};
}

TEST(InferenceServicePlan, TheRegistryKeyIsAReference) {
  const Planned planned = plan_of(minimal(kind));
  EXPECT_EQ(planned.variable("REGISTRY_API_KEY").dump(),
            R"({"secretKeyRef":{"name":"registry-api","key":"REGISTRY_API_KEY"}})");
}

TEST(InferenceServicePlan, UsersVariablesComeLastAndWin) {
  const Planned planned = plan_of(minimal(
      kind,
      "spec: {env: [{name: INF_PEFT_SOURCE, value: 'http://es:8000'}, {name: STACKGATE_LISTEN, value: '[::]:8000'}]}"));
  const Tree env = planned.container()["env"];
  EXPECT_EQ(env.back()["name"], "STACKGATE_LISTEN");
  EXPECT_EQ(planned.variable("STACKGATE_LISTEN"), "[::]:8000");
  EXPECT_EQ(planned.variable("INF_PEFT_SOURCE"), "http://es:8000");
  EXPECT_EQ(env.size(), 3U);
}

TEST(InferenceServicePlan, AModelHasTwentyMinutesToLoadUnlessTheSpecSaysOtherwise) {
  EXPECT_EQ(plan_of(minimal(kind)).container()["startupProbe"].dump(),
            R"({"httpGet":{"path":"/v1/health/ready","port":"api","scheme":"HTTP"},"periodSeconds":10,)"
            R"("timeoutSeconds":5,"failureThreshold":120,"successThreshold":1})");
  const Planned other =
      plan_of(minimal(kind, "spec: {startupProbe: {probe: {initialDelaySeconds: 60, failureThreshold: 600}}}"));
  EXPECT_EQ(other.container()["startupProbe"]["failureThreshold"], 600);
  EXPECT_EQ(other.container()["startupProbe"]["initialDelaySeconds"], 60);
  EXPECT_EQ(other.child(ChildType::deployment, "llm")["spec"]["progressDeadlineSeconds"], 60 + 6000 + 600)
      << "a rollout must not fail before the start-up has";
  EXPECT_EQ(other.container()["livenessProbe"]["httpGet"]["path"], "/v1/health/live");
}

TEST(InferenceServicePlan, SharedMemoryIsAMemoryVolumeOfTheGivenSize) {
  EXPECT_EQ(plan_of(minimal(kind)).volume("shm").dump(), R"({"name":"shm","emptyDir":{"medium":"Memory"}})");
  EXPECT_EQ(plan_of(minimal(kind, "spec: {storage: {sharedMemorySizeLimit: 1024Mi}}")).volume("shm").dump(),
            R"({"name":"shm","emptyDir":{"medium":"Memory","sizeLimit":"1Gi"}})");
}

TEST(InferenceServicePlan, AReadyCacheIsMountedReadOnly) {
  World world;
  set_cache(world, "Ready");
  world.observed.cache.sub_path = "a/b";
  const Planned planned = plan_of(minimal(kind, with_cache), world);
  EXPECT_EQ(planned.volume("model-cache").dump(),
            R"({"name":"model-cache","persistentVolumeClaim":{"claimName":"models"}})");
  EXPECT_EQ(planned.mount("model-cache").dump(),
            R"({"name":"model-cache","mountPath":"/model-store","subPath":"a/b","readOnly":true})");
  EXPECT_EQ(planned.variable("INF_CACHE_PATH"), "/model-store");
  EXPECT_EQ(planned.variable("INF_MODEL_PROFILE"), "tp8");
}

TEST(InferenceServicePlan, NothingStartsBeforeItsCacheIsReady) {
  struct Case {
    std::string_view state, reason;
    State expected;
  };
  for (const Case& each :
       {Case{"", "CacheNotFound", State::pending}, Case{"InProgress", "CacheNotReady", State::pending},
        Case{"Failed", "CacheFailed", State::failed}}) {
    World world;
    set_cache(world, each.state, "401 from the registry");
    const Planned planned = plan_of(minimal(kind, with_cache), world);
    EXPECT_TRUE(planned.child(ChildType::deployment, "llm").is_null()) << each.reason;
    EXPECT_FALSE(planned.child(ChildType::service, "llm").is_null()) << each.reason;
    EXPECT_EQ(ready_of(planned).reason, each.reason);
    EXPECT_EQ(planned.plan.status.state, each.expected) << each.reason;
    EXPECT_NE(ready_of(planned).message.find("llm-cache"), std::string::npos);
    if (!each.state.empty()) {
      EXPECT_NE(ready_of(planned).message.find("401"), std::string::npos) << each.reason;
    }
  }
}

TEST(InferenceServicePlan, WhatRunsIsLeftAloneWhileItsCacheIsNotReady) {
  World world;
  set_cache(world, "InProgress");
  world.add(ChildType::deployment, "llm", "spec: {replicas: 1}");
  const Planned planned = plan_of(minimal(kind, with_cache), world);
  ASSERT_FALSE(planned.child(ChildType::deployment, "llm").is_null()) << "or it would be pruned";
  for (const DesiredChild& child : planned.plan.children) EXPECT_EQ(child.keep, child.type == ChildType::deployment);
}

TEST(InferenceServicePlan, SeveralNodesAreALeaderWorkerSetWithHostFilesAndAKey) {
  const Planned planned = plan_of(minimal(kind, on_nodes));
  EXPECT_EQ(planned.names(),
            (std::vector<std::string>{"ConfigMap llm-mpi-config", "LeaderWorkerSet llm-lws", "Role llm",
                                      "RoleBinding llm", "Secret llm-ssh-pk", "Service llm", "ServiceAccount llm"}));
  const Tree& hosts = planned.child(ChildType::config_map, "llm-mpi-config");
  EXPECT_EQ(hosts["data"].size(), 2U);
  EXPECT_EQ(hosts["data"]["hostfile-1"],
            "llm-lws-1.llm-lws slots=1\nllm-lws-1-1.llm-lws slots=1\nllm-lws-1-2.llm-lws slots=1\n");
  for (const DesiredChild& child : planned.plan.children) {
    EXPECT_EQ(child.generate_ssh_key, child.type == ChildType::secret);
    EXPECT_EQ(child.keep, child.type == ChildType::secret);
  }
}

TEST(InferenceServicePlan, OnlyLeadersAnswerRequests) {
  const Planned planned = plan_of(minimal(kind, on_nodes));
  const Tree& set = planned.child(ChildType::leader_worker_set, "llm-lws")["spec"];
  EXPECT_EQ(set["replicas"], 2);
  const Tree& group = set["leaderWorkerTemplate"];
  EXPECT_EQ(group["size"], 3);
  EXPECT_EQ(group["restartPolicy"], "RecreateGroupOnPodRestart");
  const Tree& leader = group["leaderTemplate"];
  const Tree& worker = group["workerTemplate"];
  const Tree& selector = planned.child(ChildType::service, "llm")["spec"]["selector"];
  for (const auto& [key, value] : selector.items())
    EXPECT_EQ(leader["metadata"]["labels"].value(key, ""), value.get<std::string>()) << key;
  EXPECT_EQ(selector["app"], "llm");
  EXPECT_EQ(worker["metadata"]["labels"]["app"], "llm");
  EXPECT_NE(worker["metadata"]["labels"]["stackgate.dev/role"], selector["stackgate.dev/role"]);
  EXPECT_TRUE(leader["spec"]["containers"][0].contains("readinessProbe"));
  for (const char* probe : {"startupProbe", "readinessProbe", "livenessProbe", "ports"})
    EXPECT_FALSE(worker["spec"]["containers"][0].contains(probe)) << probe;
}

TEST(InferenceServicePlan, APodKnowsItsPlaceInTheGroup) {
  const Planned planned =
      plan_of(minimal(kind,
                      "spec: {resources: {limits: {nvidia.com/gpu: 8}}, multiNode: {size: 2, "
                      "tensorParallelism: 8, pipelineParallelism: 2, mpiStartTimeoutSeconds: 90}}"));
  const Tree& group = planned.child(ChildType::leader_worker_set, "llm-lws")["spec"]["leaderWorkerTemplate"];
  const Tree& leader = group["leaderTemplate"];
  const Tree& worker = group["workerTemplate"];
  EXPECT_EQ(variable(leader, "INF_NODE_ROLE")["value"], "leader");
  EXPECT_EQ(variable(worker, "INF_NODE_ROLE")["value"], "worker");
  EXPECT_EQ(variable(worker, "INF_GPUS_PER_NODE")["value"], "8");
  EXPECT_EQ(variable(worker, "INF_TENSOR_PARALLELISM")["value"], "8");
  EXPECT_EQ(variable(leader, "INF_MPI_START_TIMEOUT")["value"], "90");
  EXPECT_EQ(text_at(variable(worker, "INF_NODE_RANK"), "/valueFrom/fieldRef/fieldPath"),
            R"("metadata.labels['leaderworkerset.sigs.k8s.io/worker-index']")");
  EXPECT_EQ(variable(leader, "OMPI_MCA_orte_default_hostfile")["value"], "$(INF_MPI_HOST_FILE)");
}

TEST(InferenceServicePlan, AGroupOfOnePodIsADeployment) {
  const Planned planned = plan_of(minimal(kind, "spec: {multiNode: {size: 1}}"));
  EXPECT_FALSE(planned.child(ChildType::deployment, "llm").is_null());
  EXPECT_TRUE(planned.child(ChildType::leader_worker_set, "llm-lws").is_null());
}

TEST(InferenceServicePlan, WithoutLeaderWorkerSetItSaysWhatToInstall) {
  World world;
  world.observed.served.leader_worker_sets = false;
  const Planned planned = plan_of(minimal(kind, on_nodes), world);
  EXPECT_TRUE(planned.child(ChildType::leader_worker_set, "llm-lws").is_null());
  EXPECT_EQ(planned.plan.status.state, State::failed);
  EXPECT_EQ(ready_of(planned).reason, "NotInstalled");
  EXPECT_NE(ready_of(planned).message.find("install"), std::string::npos);
}

TEST(InferenceServicePlan, HostFilesThatNoConfigMapHoldsAreRefused) {
  const Planned planned = plan_of(minimal(kind, "spec: {replicas: 100000, multiNode: {size: 20000}}"));
  EXPECT_EQ(planned.plan.status.state, State::failed);
  EXPECT_EQ(ready_of(planned).reason, "TooManyNodes");
  EXPECT_TRUE(planned.child(ChildType::leader_worker_set, "llm-lws").is_null());
}

TEST(InferenceServicePlan, TheSshKeyCanBeReadByWhoeverTheProcessesAre) {
  const auto mode = [](std::string_view user) {
    const Planned planned =
        plan_of(minimal(kind, "spec: {multiNode: {size: 2}, podSecurityContext: " + std::string(user) + "}"));
    for (const Tree& volume :
         planned.child(ChildType::leader_worker_set,
                       "llm-lws")["spec"]["leaderWorkerTemplate"]["workerTemplate"]["spec"]["volumes"])
      if (volume["name"] == "ssh-key") return volume["secret"]["defaultMode"].get<int>();
    return 0;
  };
  EXPECT_EQ(mode("{runAsUser: 0}"), 0400);
  EXPECT_EQ(mode("{fsGroup: 5}"), 0440);
  EXPECT_EQ(mode("{runAsUser: 7}"), 0444);
}

TEST(InferenceServicePlan, ATakenNameIsTold) {
  World world;
  world.add(ChildType::service, "llm", "{}", false);
  const Planned planned = plan_of(minimal(kind), world);
  EXPECT_EQ(planned.plan.status.state, State::failed);
  EXPECT_EQ(ready_of(planned).reason, "NameTaken");
}

TEST(InferenceServicePlan, AnOrphanIsTakenBackAndReadsAsItsOwn) {
  World world;
  world.add(ChildType::deployment, "llm",
            R"({"metadata":{"labels":{"app.kubernetes.io/managed-by":"stackgate","app.kubernetes.io/instance":"llm",
                "app.kubernetes.io/component":"inference"},"annotations":{"stackgate.dev/plan":"aa"}},
                "spec":{"replicas":1},"status":{"replicas":1,"updatedReplicas":1,"availableReplicas":1,
                "observedGeneration":1}})",
            false);
  const Planned planned = plan_of(minimal(kind), world);
  EXPECT_EQ(planned.plan.status.state, State::ready);
  EXPECT_FALSE(planned.child(ChildType::deployment, "llm").is_null());
}

TEST(InferenceServicePlan, WhatADeletedNamesakeLeftIsWaitedFor) {
  World world;
  world.add(ChildType::service, "llm",
            R"({"metadata":{"ownerReferences":[{"apiVersion":"stackgate.dev/v1alpha1","kind":"InferenceService",
                "name":"llm","uid":"former","controller":true}],
                "labels":{"app.kubernetes.io/managed-by":"stackgate","app.kubernetes.io/instance":"llm",
                "app.kubernetes.io/component":"inference"}}})",
            false);
  const Planned planned = plan_of(minimal(kind), world);
  EXPECT_EQ(planned.plan.status.state, State::pending);
  EXPECT_EQ(ready_of(planned).reason, "WaitingForDeletion");
}

}  // namespace inference_service_test
}  // namespace stackgate::reconcile::tests
