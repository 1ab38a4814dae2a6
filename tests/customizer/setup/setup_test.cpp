#include "services/customizer/setup/setup.hpp"

#include <set>

#include <gmock/gmock.h>

#include "tests/reconcile/plan/stack_plans.hpp"

namespace stackgate::customizer {
namespace {

using reconcile::tests::Tree;
using testing::Contains;
using testing::ElementsAre;
using testing::IsEmpty;

constexpr crds::Kind kind = crds::Kind::stack_customizer;

/// What the operator writes for the resource.
std::string written(const Tree& object) {
  reconcile::tests::World world;
  world.observed.datastore_admin = "datastore-admin";
  const auto planned = plan_of(object, world);
  return planned.child(reconcile::ChildType::config_map, "customizer-jobs")["data"]["config.json"].get<std::string>();
}

std::vector<std::string> faults(std::string_view text) {
  std::vector<std::string> out;
  for (const validate::Finding& each : read_setup(text).findings) {
    EXPECT_FALSE(each.fix.empty()) << each.path;
    out.push_back(each.path + " " + each.problem);
  }
  return out;
}

/// The smallest good file, patched with JSON.
std::string good(std::string_view patch = "{}") {
  Tree out =
      Tree::parse(R"({"owner":{"apiVersion":"stackgate.dev/v1alpha1","kind":"StackCustomizer","name":"c","uid":"u"},
    "scheduler":{"type":"gang"},"datastoreTools":{"image":"tools"},"modelDownload":{"image":"puller"},
    "modelClaim":{"name":"models"},"workspace":{},"training":{"image":"trainer"}})");
  out.merge_patch(Tree::parse(patch));
  return out.dump();
}

TEST(JobSetup, reads_all_that_the_operator_writes) {
  const SetupRead read = read_setup(written(reconcile::tests::full(kind)));
  ASSERT_THAT(read.findings, IsEmpty()) << read.findings.front().path << read.findings.front().problem;
  const JobSetup& setup = read.setup;
  EXPECT_EQ(setup.owner.kind, "StackCustomizer");
  EXPECT_EQ(setup.scheduler, Scheduler::kueue);
  EXPECT_EQ(setup.queue, "research");
  EXPECT_THAT(setup.pull_secrets, ElementsAre("registry-pull"));
  EXPECT_EQ(setup.tools_image, "registry.example.com/stackgate/datastore-tools:0.1.0");
  EXPECT_EQ(setup.model_download.api_key.secret, "registry-api");
  EXPECT_EQ(setup.model_download.security_context,
            R"({"fsGroup":1000,"runAsGroup":1000,"runAsNonRoot":true,"runAsUser":1000})");
  EXPECT_EQ(setup.model_download.ttl_seconds, 600U);
  EXPECT_EQ(setup.model_download.poll_seconds, 15U);
  EXPECT_EQ(setup.tracker->encryption_key_key, "encryptionKey");
  EXPECT_EQ(setup.tracker->project, "adapters");
  EXPECT_EQ(setup.model_claim.name, "customizer-models");
  EXPECT_EQ(setup.model_claim.sub_path, "models");
  EXPECT_EQ(setup.workspace.storage_class, "shared");
  EXPECT_EQ(setup.workspace.mount_path, "/pvc/workspace");
  EXPECT_EQ(setup.training.env.at(0).name, "LOG_LEVEL");
  EXPECT_EQ(setup.training.network_env.at(1).body, R"({"name":"UCX_TLS","value":"tcp"})");
  EXPECT_EQ(setup.training.timeout_seconds, 86'400U);
  EXPECT_THAT(setup.training.tolerations, testing::StartsWith(R"([{"effect":"NoSchedule")"));
}

TEST(JobSetup, has_defaults_where_the_operator_writes_nothing) {
  const SetupRead read = read_setup(written(reconcile::tests::minimal(kind)));
  ASSERT_THAT(read.findings, IsEmpty());
  EXPECT_EQ(read.setup.scheduler, Scheduler::volcano);
  EXPECT_EQ(read.setup.queue, "");
  EXPECT_FALSE(read.setup.tracker);
  EXPECT_FALSE(read.setup.training.timeout_seconds);
  EXPECT_EQ(read.setup.training.image, "registry.example.com/stackgate/trainer:0.1.0");
}

void collect(const Tree& tree, const std::string& before, std::set<std::string>& out) {
  for (const auto& [key, value] : tree.items()) {
    out.insert(before + key);
    if (value.is_object() && key != "securityContext") collect(value, before + key + ".", out);
  }
}

TEST(JobSetup, knows_no_member_that_the_operator_never_writes) {
  std::set<std::string> members;
  collect(Tree::parse(written(reconcile::tests::full(kind))), "", members);
  const auto known = setup_members();
  EXPECT_EQ(std::set<std::string>(known.begin(), known.end()), members);
}

TEST(JobSetup, takes_the_datastores_credentials_by_reference) {
  const SetupRead read = read_setup(written(reconcile::tests::minimal(kind)));
  ASSERT_EQ(read.setup.tools_env.size(), 2U);
  EXPECT_EQ(read.setup.tools_env[0].name, "DATASTORE_USERNAME");
  EXPECT_THAT(read.setup.tools_env[1].body, testing::HasSubstr("datastore-admin"));
  const auto own = [](std::string_view credentials) {
    const auto patch = "spec: {env: [{name: OTHER, value: x}, " + std::string(credentials) + "]}";
    return read_setup(written(reconcile::tests::minimal(kind, patch))).setup.tools_env;
  };
  const auto references = own("{name: DATASTORE_PASSWORD, valueFrom: {secretKeyRef: {name: mine, key: password}}}");
  ASSERT_EQ(references.size(), 1U);
  EXPECT_THAT(references[0].body, testing::HasSubstr("\"mine\""));
  EXPECT_THAT(own("{name: DATASTORE_PASSWORD, value: secret}"), IsEmpty()) << "a ConfigMap holds no secret";
}

TEST(JobSetup, knows_the_schedulers) {
  const auto scheduler = [](std::string_view patch) {
    const SetupRead read = read_setup(good(patch));
    EXPECT_THAT(read.findings, IsEmpty());
    return read.setup.scheduler;
  };
  EXPECT_EQ(scheduler("{}"), Scheduler::volcano);
  EXPECT_EQ(scheduler(R"({"scheduler":{"type":"queue","queue":"q"}})"), Scheduler::runai);
  EXPECT_EQ(scheduler(R"({"scheduler":{"type":"queue","dialect":"kai","queue":"q"}})"), Scheduler::kai);
  EXPECT_EQ(scheduler(R"({"scheduler":{"type":"queue","dialect":"kueue","queue":"q"}})"), Scheduler::kueue);
  EXPECT_EQ(scheduler(R"({"scheduler":{"type":"plain"}})"), Scheduler::plain);
}

TEST(JobSetup, reports_every_fault_at_once) {
  EXPECT_THAT(faults(good(R"({"owner":{"uid":null},"scheduler":{"type":"slurm"},"imagePullSecrets":[1],
                 "workspace":{"size":"-1Gi","mountPath":"w","accessMode":"Many"},
                 "training":{"image":"","env":[{"value":"x"}],"timeoutSeconds":-1,"tolerations":{}}})")),
              ElementsAre("config.json: owner lacks \"uid\"",
                          "config.json: scheduler.type the scheduler \"slurm\" is not served",
                          "config.json: imagePullSecrets[0] must be a text",
                          "config.json: workspace.accessMode the access mode \"Many\" is not served",
                          "config.json: workspace.size must be above 0",
                          "config.json: workspace.mountPath must be absolute, but does not begin with '/'",
                          "config.json: training.image must be a text that is not empty",
                          "config.json: training.env[0] has no name",
                          "config.json: training.timeoutSeconds must be a whole number from 0 to 315360000",
                          "config.json: training.tolerations must be a list"));
}

TEST(JobSetup, needs_the_queue_of_a_scheduler_of_queues) {
  EXPECT_THAT(faults(good(R"({"scheduler":{"type":"queue","dialect":"kueue"}})")),
              ElementsAre("config.json: scheduler lacks \"queue\""));
}

TEST(JobSetup, reports_parts_that_are_missing_or_of_another_type) {
  EXPECT_THAT(faults(R"({"training":7})"),
              ElementsAre("config.json lacks \"owner\"", "config.json lacks \"scheduler\"",
                          "config.json lacks \"datastoreTools\"", "config.json lacks \"modelDownload\"",
                          "config.json lacks \"modelClaim\"", "config.json lacks \"workspace\"",
                          "config.json: training must be an object"));
  EXPECT_THAT(faults("[]"), ElementsAre("config.json must be an object"));
  EXPECT_EQ(faults("{").size(), 1U);
}

TEST(JobSetup, warns_of_members_that_it_does_not_know) {
  const SetupRead read =
      read_setup(good(R"({"trainings":{},"modelDownload":{"apiKey":{"secret":"s","key":"k","kye":"k"}}})"));
  EXPECT_FALSE(has_errors(read.findings));
  ASSERT_EQ(read.findings.size(), 2U);
  EXPECT_EQ(read.findings[0].path + ": " + read.findings[0].fix, "config.json: trainings: did you mean \"training\"?");
  EXPECT_EQ(read.findings[1].path, "config.json: modelDownload.apiKey.kye");
}

}  // namespace
}  // namespace stackgate::customizer
