#include <gtest/gtest.h>

#include "tests/reconcile/plan/stack_plans.hpp"

namespace stackgate::reconcile::tests {
namespace stack_datastore {

constexpr crds::Kind kind = crds::Kind::stack_datastore;

std::string strategy(std::string_view patch) {
  const Planned planned = plan_of(minimal(kind, patch));
  return planned.child(ChildType::deployment, "datastore")["spec"]["strategy"]["type"];
}

TEST(StackDatastorePlan, OnePodAtATimeWritesAVolumeThatIsMountedOnce) {
  EXPECT_EQ(strategy("{}"), "Recreate");
  EXPECT_EQ(strategy("spec: {pvc: {volumeAccessMode: ReadWriteOncePod}}"), "Recreate");
  EXPECT_EQ(strategy("spec: {pvc: {volumeAccessMode: ReadWriteMany}}"), "RollingUpdate");
  EXPECT_EQ(strategy("spec: {pvc: null}"), "RollingUpdate");
  const std::string existing = "create: null, size: null, volumeAccessMode: null, name: x";
  EXPECT_EQ(strategy("spec: {pvc: {" + existing + "}}"), "Recreate") << "nobody says that two nodes may mount it";
  EXPECT_EQ(strategy("spec: {replicas: 2, pvc: {" + existing + "}}"), "RollingUpdate");
}

TEST(StackDatastorePlan, TheClaimIsMadeOnceAndOutlivesItsResource) {
  const Planned planned = plan_of(minimal(kind));
  const Tree claim = planned.child(ChildType::persistent_volume_claim, "datastore-pvc");
  EXPECT_EQ(claim["spec"]["resources"]["requests"]["storage"], "100Gi");
  EXPECT_FALSE(claim["metadata"].contains("ownerReferences"));
  EXPECT_FALSE(claim["spec"].contains("storageClassName")) << "the cluster's default";
  for (const DesiredChild& child : planned.plan.children)
    EXPECT_EQ(child.keep, child.type == ChildType::persistent_volume_claim) << child.name;
  EXPECT_EQ(plan_of(minimal(kind, "spec: {pvc: {storageClass: ''}}"))
                .child(ChildType::persistent_volume_claim, "datastore-pvc")["spec"]["storageClassName"],
            "");
}

TEST(StackDatastorePlan, AnExistingClaimIsMountedAndNotMade) {
  const Planned planned =
      plan_of(minimal(kind, "spec: {pvc: {create: false, name: repositories, size: null, subPath: a/b}}"));
  EXPECT_EQ(planned.volume("data")["persistentVolumeClaim"], Tree::parse(R"({"claimName":"repositories"})"));
  EXPECT_EQ(planned.mount("data"), Tree::parse(R"({"name":"data","mountPath":"/data","subPath":"a/b"})"));
  EXPECT_EQ(planned.names(),
            (std::vector<std::string>{"Deployment datastore", "Role datastore", "RoleBinding datastore",
                                      "Service datastore", "ServiceAccount datastore"}));
}

TEST(StackDatastorePlan, WithoutAClaimThereIsAnEmptyFolder) {
  const Planned planned = plan_of(minimal(kind, "spec: {pvc: null}"));
  EXPECT_EQ(planned.volume("data"), Tree::parse(R"({"name":"data","emptyDir":{}})"));
  EXPECT_TRUE(planned.child(ChildType::persistent_volume_claim, "datastore-pvc").is_null());
}

TEST(StackDatastorePlan, TheFiveSecretsArriveByReference) {
  const Planned planned = plan_of(minimal(kind));
  for (const char* key : {"GIT_ADMIN_USERNAME", "GIT_ADMIN_PASSWORD"})
    EXPECT_EQ(planned.variable(key)["secretKeyRef"], (Tree{{"name", "datastore-git-admin"}, {"key", key}}));
  EXPECT_EQ(planned.volume("lfs-jwt")["secret"]["items"], Tree::parse(R"([{"key":"jwtSecret","path":"jwtSecret"}])"));
  EXPECT_EQ(planned.volume("config")["secret"]["items"],
            Tree::parse(R"([{"key":"config_environment.sh","path":"config_environment.sh"}])"));
  EXPECT_EQ(planned.volume("init")["secret"]["secretName"], "datastore-init");
  EXPECT_FALSE(planned.volume("init")["secret"].contains("items")) << "every script";
  EXPECT_EQ(planned.volume("inline-config")["secret"]["secretName"], "datastore-inline-config");
  EXPECT_EQ(planned.variable("STACKGATE_LFS_JWT_SECRET_FILE"), "/run/secrets/stackgate/lfs-jwt/jwtSecret");
  for (const char* volume : {"lfs-jwt", "config", "init", "inline-config"})
    EXPECT_EQ(planned.mount(volume)["readOnly"], true) << volume;
}

TEST(StackDatastorePlan, ItMigratesBeforeItRunsTheScripts) {
  const auto init = [](std::string_view patch) {
    std::vector<std::string> names;
    const Planned planned = plan_of(minimal(kind, patch));
    for (const Tree& each :
         planned.child(ChildType::deployment, "datastore")["spec"]["template"]["spec"]["initContainers"])
      names.push_back(each["name"].get<std::string>() + " " + each["args"][0].get<std::string>());
    return names;
  };
  EXPECT_EQ(init("{}"), (std::vector<std::string>{"migrate migrate", "init init"}));
  EXPECT_EQ(init("spec: {databaseConfig: null}"), (std::vector<std::string>{"init init"}));
}

TEST(StackDatastorePlan, TheObjectStoreIsDescribedInFull) {
  constexpr std::string_view store =
      "spec: {objectStoreConfig: {endpoint: 's3.example.com:443', bucketName: b-1, credentials: {user: 'A$(B)', "
      "secretName: s, passwordKey: k}}}";
  const Planned planned = plan_of(minimal(kind, store));
  EXPECT_EQ(planned.variable("STACKGATE_S3_ENDPOINT"), "s3.example.com:443");
  EXPECT_EQ(planned.variable("STACKGATE_S3_BUCKET"), "b-1");
  EXPECT_TRUE(planned.variable("STACKGATE_S3_REGION").is_null());
  EXPECT_EQ(planned.variable("STACKGATE_S3_SSL"), "true") << "port 443 speaks TLS";
  EXPECT_EQ(planned.variable("STACKGATE_S3_SERVE_DIRECT"), "true");
  EXPECT_EQ(planned.variable("S3_ACCESS_KEY"), "A$$(B)");
  EXPECT_EQ(planned.variable("S3_SECRET_KEY")["secretKeyRef"], Tree::parse(R"({"name":"s","key":"k"})"));

  Tree plain = minimal(kind, store);
  plain["spec"]["objectStoreConfig"]["endpoint"] = "minio:9000";
  EXPECT_EQ(plan_of(plain).variable("STACKGATE_S3_SSL"), "false");
  plain["spec"]["objectStoreConfig"]["ssl"] = true;
  plain["spec"]["objectStoreConfig"]["serveDirect"] = false;
  EXPECT_EQ(plan_of(plain).variable("STACKGATE_S3_SSL"), "true");
  EXPECT_EQ(plan_of(plain).variable("STACKGATE_S3_SERVE_DIRECT"), "false");
  EXPECT_TRUE(plan_of(minimal(kind)).variable("STACKGATE_S3_ENDPOINT").is_null());
}

}  // namespace stack_datastore
}  // namespace stackgate::reconcile::tests
