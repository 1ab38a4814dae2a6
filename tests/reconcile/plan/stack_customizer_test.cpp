#include <gtest/gtest.h>

#include "tests/reconcile/plan/stack_plans.hpp"

namespace stackgate::reconcile::tests {
namespace stack_customizer {

constexpr crds::Kind kind = crds::Kind::stack_customizer;

Tree config_of(const Planned& planned) {
  const Tree map = planned.child(ChildType::config_map, "customizer-jobs");
  return Tree::parse(map["data"]["config.json"].get<std::string>());
}

/// "group/resource verb,verb" per rule, of groups that not every scheduler shares.
std::vector<std::string> scheduler_rights(std::string_view scheduler) {
  std::vector<std::string> out;
  const Planned planned =
      plan_of(minimal(kind, "spec: {trainingConfig: {queueName: q}, scheduler: " + std::string(scheduler) + "}"));
  for (const Tree& rule : planned.child(ChildType::role, "customizer")["rules"]) {
    const std::string group = rule["apiGroups"][0], resource = rule["resources"][0];
    if ((group.empty() && resource != "services") || group == "batch") continue;
    std::string line = group + "/" + resource;
    for (const Tree& verb : rule["verbs"]) line += " " + verb.get<std::string>();
    out.push_back(line);
  }
  return out;
}

using Lines = std::vector<std::string>;

TEST(StackCustomizerPlan, RightsAreThoseOfTheChosenSchedulerOnly) {
  const Lines gang{"batch.volcano.sh/jobs create get list watch delete", "scheduling.volcano.sh/podgroups list watch"};
  EXPECT_EQ(scheduler_rights("{}"), gang);
  EXPECT_EQ(scheduler_rights("{type: gang}"), gang);
  const Lines queue{"/services create delete"};
  EXPECT_EQ(scheduler_rights("{type: queue}"), queue);
  EXPECT_EQ(scheduler_rights("{type: queue, queueDialect: runai}"), queue);
  EXPECT_EQ(scheduler_rights("{type: queue, queueDialect: kai}"), queue);
  const Lines kueue{"/services create delete", "kueue.x-k8s.io/localqueues get", "kueue.x-k8s.io/workloads list watch",
                    "visibility.kueue.x-k8s.io/localqueues/pendingworkloads get"};
  EXPECT_EQ(scheduler_rights("{type: queue, queueDialect: kueue}"), kueue);
}

TEST(StackCustomizerPlan, ItMayNotReadSecrets) {
  const Planned planned = plan_of(full(kind, "spec: {serviceAccountName: null}"));
  std::vector<Tree> rules;
  for (const Tree& rule : planned.child(ChildType::role, "customizer")["rules"])
    if (rule["resources"].dump().contains("secrets")) rules.push_back(rule["verbs"]);
  EXPECT_EQ(rules, std::vector<Tree>{Tree::parse(R"(["create","delete"])")});
}

TEST(StackCustomizerPlan, ItSignsInToTheDatastoreAndSoDoItsJobs) {
  World world;
  world.observed.datastore_admin = "datastore-admin";
  const Planned planned = plan_of(minimal(kind), world);
  EXPECT_EQ(planned.variable("DATASTORE_PASSWORD")["secretKeyRef"]["name"], "datastore-admin");
  EXPECT_EQ(config_of(planned)["datastoreTools"]["env"][0]["valueFrom"]["secretKeyRef"],
            Tree::parse(R"({"name":"datastore-admin","key":"GIT_ADMIN_USERNAME"})"));
  const Planned own = plan_of(minimal(kind, "spec: {env: [{name: DATASTORE_PASSWORD, value: secret}]}"), world);
  EXPECT_EQ(own.variable("DATASTORE_PASSWORD"), "secret");
  EXPECT_FALSE(config_of(own)["datastoreTools"].contains("env")) << "a ConfigMap holds no secret";
}

TEST(StackCustomizerPlan, TheConfigurationSaysHowJobsRun) {
  const Tree config = config_of(plan_of(full(kind)));
  EXPECT_EQ(config["owner"]["kind"], "StackCustomizer");
  EXPECT_EQ(config["scheduler"], Tree::parse(R"({"type":"queue","dialect":"kueue","queue":"research"})"));
  EXPECT_EQ(config["imagePullSecrets"], Tree::parse(R"(["registry-pull"])"));
  EXPECT_EQ(config["datastoreTools"]["image"], "registry.example.com/stackgate/datastore-tools:0.1.0");
  EXPECT_EQ(config["modelDownload"]["apiKey"], Tree::parse(R"({"secret":"registry-api","key":"REGISTRY_API_KEY"})"));
  EXPECT_EQ(config["modelDownload"]["securityContext"]["runAsUser"], 1000);
  EXPECT_EQ(config["modelDownload"]["pollIntervalSeconds"], 15);
  EXPECT_EQ(config["modelClaim"]["subPath"], "models");
  EXPECT_EQ(config["training"]["timeoutSeconds"], 86400);
  EXPECT_EQ(config["training"]["networkEnv"][0], Tree::parse(R"({"name":"NCCL_IB_SL","value":"0"})"));
  EXPECT_EQ(config["training"]["tolerations"].size(), 2U);
  EXPECT_EQ(config["workspace"]["mountPath"], "/pvc/workspace");
}

TEST(StackCustomizerPlan, WhatIsNotSetIsTheOperatorsOwnOrLeftOut) {
  const Tree config = config_of(plan_of(minimal(kind)));
  EXPECT_EQ(config["scheduler"], Tree::parse(R"({"type":"gang"})"));
  EXPECT_EQ(config["training"], Tree::parse(R"({"image":"registry.example.com/stackgate/trainer:0.1.0"})"));
  EXPECT_EQ(config["modelDownload"], Tree::parse(R"({"image":"registry.example.com/stackgate/puller:0.1.0"})"));
  EXPECT_EQ(config["modelClaim"]["name"], "customizer-pvc");
  for (const char* absent : {"tracker", "imagePullSecrets"}) EXPECT_FALSE(config.contains(absent)) << absent;
}

TEST(StackCustomizerPlan, QuantitiesAndEmptyClassesAreKeptInKubernetesWords) {
  const Tree config = config_of(plan_of(
      minimal(kind, "spec: {trainingConfig: {workspacePVC: {size: 1024Mi, storageClass: ''}, image: {tag: '7'}}}")));
  EXPECT_EQ(config["workspace"]["size"], "1Gi");
  EXPECT_EQ(config["workspace"]["storageClass"], "");
  EXPECT_EQ(config["training"]["image"], "registry.example.com/stackgate/trainer:7");
}

TEST(StackCustomizerPlan, AQueueNameSaysNothingToAGang) {
  const Tree config = config_of(plan_of(minimal(kind, "spec: {trainingConfig: {queueName: q}}")));
  EXPECT_EQ(config["scheduler"], Tree::parse(R"({"type":"gang"})"));
}

TEST(StackCustomizerPlan, AChangeOfTheConfigurationRestartsThePods) {
  const auto mark = [](std::string_view patch) {
    const Planned planned = plan_of(minimal(kind, patch));
    return planned
        .child(ChildType::deployment,
               "customizer")["spec"]["template"]["metadata"]["annotations"]["stackgate.dev/config"]
        .get<std::string>();
  };
  EXPECT_EQ(mark("{}"), mark("spec: {replicas: 2}"));
  EXPECT_NE(mark("{}"), mark("spec: {trainingConfig: {timeout: 7200}}"));
}

TEST(StackCustomizerPlan, TheTrackersKeysAreFiles) {
  const Planned planned = plan_of(full(kind));
  EXPECT_EQ(planned.volume("tracker")["secret"]["items"],
            Tree::parse(R"([{"key":"apiKey","path":"api-key"},{"key":"encryptionKey","path":"encryption-key"}])"));
  EXPECT_EQ(planned.variable("STACKGATE_TRACKER_API_KEY_FILE"), "/run/secrets/stackgate/tracker/api-key");
  EXPECT_EQ(planned.variable("STACKGATE_TRACKER_ENTITY"), "research");
  EXPECT_EQ(planned.variable("STACKGATE_TRACKER_PROJECT"), "adapters");
  EXPECT_TRUE(plan_of(minimal(kind)).volume("tracker").is_null());
}

TEST(StackCustomizerPlan, ConfigMapsOfTheUserAreMounted) {
  const Planned planned = plan_of(full(kind));
  EXPECT_EQ(planned.volume("models")["configMap"]["name"], "customizer-models");
  EXPECT_EQ(planned.volume("training")["configMap"]["name"], "customizer-training");
  EXPECT_EQ(planned.variable("STACKGATE_TRAINING_CONFIG_DIR"), "/etc/stackgate/training");
  EXPECT_TRUE(plan_of(minimal(kind)).variable("STACKGATE_MODEL_CONFIG_DIR").is_null());
}

TEST(StackCustomizerPlan, TheModelClaimIsForTheJobs) {
  const Planned planned = plan_of(minimal(kind));
  EXPECT_FALSE(planned.child(ChildType::persistent_volume_claim, "customizer-pvc").is_null());
  EXPECT_EQ(planned.child(ChildType::deployment, "customizer").dump().find("persistentVolumeClaim"), std::string::npos);
}

TEST(StackCustomizerPlan, CallbacksHaveAPortOfTheirOwn) {
  const auto ports = [](std::string_view patch) {
    std::string out;
    const Planned planned = plan_of(minimal(kind, patch));
    for (const Tree& port : planned.child(ChildType::service, "customizer")["spec"]["ports"])
      out += port["name"].get<std::string>() + "=" + port["port"].dump() + " ";
    return out + planned.variable("STACKGATE_CALLBACK_URL").get<std::string>();
  };
  EXPECT_EQ(ports("{}"), "api=8000 callback=9009 http://customizer.team.svc:9009");
  EXPECT_EQ(ports("spec: {metrics: {enabled: true}}"),
            "api=8000 metrics=8080 callback=9009 http://customizer.team.svc:9009");
  EXPECT_EQ(ports("spec: {expose: {service: {port: 9009}}}"), "api=9009 callback=9010 http://customizer.team.svc:9010");
}

}  // namespace stack_customizer
}  // namespace stackgate::reconcile::tests
