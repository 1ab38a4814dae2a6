#include <gtest/gtest.h>

#include "tests/validators/rules/rule_cases.hpp"
#include "validators/rule_ids.hpp"

namespace stackgate::validate::tests {
namespace stack_customizer_test {

constexpr auto kind = crds::Kind::stack_customizer;

std::string fix_of(const Rule& rule, std::string_view patch) {
  const Findings found = of_rule(review_of(kind, patch), rule);
  return found.size() == 1 ? found[0].fix : all_lines(found);
}

TEST(StackCustomizerRules, ADialectBelongsToAQueue) {
  expect_rule(rule::queue_dialect_needs_queue, kind,
              {{"spec: {scheduler: {queueDialect: kueue}}", {"spec.scheduler.queueDialect"}},
               {"spec: {scheduler: {type: gang, queueDialect: runai}}", {"spec.scheduler.queueDialect"}},
               {"spec: {scheduler: {type: queue, queueDialect: runai}}", {}},
               {"spec: {scheduler: {type: queue}}", {}},
               {"spec: {scheduler: {type: gang}}", {}}});
}

TEST(StackCustomizerRules, TheConfigMapOfTheJobsIsTheOperators) {
  expect_rule(
      rule::child_name_taken, kind,
      {{"metadata: {name: c}\nspec: {modelConfig: {name: c-jobs}}", {"spec.modelConfig.name"}},
       {"metadata: {name: c}\nspec: {trainingConfig: {configMap: {name: c-jobs}}}",
        {"spec.trainingConfig.configMap.name"}},
       {"metadata: {name: c}\nspec: {modelConfig: {name: c-config}, trainingConfig: {configMap: {name: jobs}}}", {}}});
}

TEST(StackCustomizerRules, AQueueNameWithAGangIsIgnored) {
  expect_rule(rule::queue_name_ignored, kind,
              {{"spec: {trainingConfig: {queueName: team}}", {"spec.trainingConfig.queueName"}},
               {"spec: {scheduler: {type: queue}, trainingConfig: {queueName: team}}", {}}});
}

TEST(StackCustomizerRules, KaiAndKueueNeedAQueue) {
  expect_rule(rule::queue_name_missing, kind,
              {{"spec: {scheduler: {type: queue, queueDialect: kueue}}", {"spec.trainingConfig.queueName"}},
               {"spec: {scheduler: {type: queue, queueDialect: kai}}", {"spec.trainingConfig.queueName"}},
               {"spec: {scheduler: {type: queue, queueDialect: kai}, trainingConfig: {queueName: team}}", {}},
               {"spec: {scheduler: {type: queue, queueDialect: runai}}", {}},
               {"spec: {scheduler: {type: queue}}", {}}});
}

TEST(StackCustomizerRules, AQueueNameIsANameAndALabelValue) {
  const auto queue = [](std::string_view dialect, std::string_view name) {
    return "spec: {scheduler: {type: queue, queueDialect: " + std::string(dialect) +
           "}, trainingConfig: {queueName: '" + std::string(name) + "'}}";
  };
  const std::string place = "spec.trainingConfig.queueName";
  expect_rule(rule::queue_name_invalid, kind,
              {{queue("kueue", "team.a"), {}},
               {queue("runai", "team-a"), {}},
               {queue("kai", std::string(63, 'a')), {}},
               {queue("kai", std::string(64, 'a')), {place}},
               {queue("runai", "team.a"), {place}},
               {queue("kueue", "Team"), {place}},
               {queue("kueue", "team_a"), {place}},
               {queue("kueue", "-team"), {place}}});
}

TEST(StackCustomizerRules, ATrackerHasASecretAndTwoKeys) {
  const auto tracker = [](std::string_view fields) {
    return "spec: {experimentTracker: {" + std::string(fields) + "}}";
  };
  const std::string_view secret = "spec.experimentTracker.secretName", api_key = "spec.experimentTracker.apiKeyKey",
                         encryption = "spec.experimentTracker.encryptionKey";
  expect_rule(rule::tracker_incomplete, kind,
              {{tracker("secretName: s, apiKeyKey: a, encryptionKey: e"), {}},
               {tracker("secretName: s, apiKeyKey: a, encryptionKey: e, entity: team, projectName: p"), {}},
               {tracker("secretName: s, apiKeyKey: a"), {encryption}},
               {tracker("secretName: s, encryptionKey: e"), {api_key}},
               {tracker("apiKeyKey: a, encryptionKey: e"), {secret}},
               {tracker("entity: team"), {secret, api_key, encryption}},
               {tracker(""), {secret, api_key, encryption}}});
  EXPECT_EQ(short_form(review_of(kind, tracker("secretname: s, apiKeyKey: a, encryptionKey: e"))),
            std::vector<std::string>{"error spec.experimentTracker.secretname schema-unknown-field"});
  expect_rule(rule::tracker_keys_identical, kind,
              {{tracker("secretName: s, apiKeyKey: a, encryptionKey: a"), {"spec.experimentTracker.encryptionKey"}},
               {tracker("secretName: s, apiKeyKey: a, encryptionKey: b"), {}}});
  expect_rule(rule::tracker_name_empty, kind,
              {{tracker("secretName: s, apiKeyKey: a, encryptionKey: e, entity: '', projectName: ''"),
                {"spec.experimentTracker.entity", "spec.experimentTracker.projectName"}},
               {tracker("secretName: s, apiKeyKey: a, encryptionKey: e, entity: team"), {}}});
}

TEST(StackCustomizerRules, AFinishedDownloadOutlivesAPoll) {
  const auto jobs = [](std::string_view fields) { return "spec: {modelDownloadJobs: {" + std::string(fields) + "}}"; };
  expect_rule(
      rule::download_ttl_below_poll, kind,
      {{jobs("ttlSecondsAfterFinished: 14, pollIntervalSeconds: 15"),
        {"spec.modelDownloadJobs.ttlSecondsAfterFinished"}},
       {jobs("ttlSecondsAfterFinished: 0, pollIntervalSeconds: 1"), {"spec.modelDownloadJobs.ttlSecondsAfterFinished"}},
       {jobs("ttlSecondsAfterFinished: 15, pollIntervalSeconds: 15"), {}},
       {jobs("ttlSecondsAfterFinished: 0"), {}},
       {jobs("pollIntervalSeconds: 15"), {}}});
}

TEST(StackCustomizerRules, ImagesAreWholeReferences) {
  for (const std::string_view patch : {"spec: {datastoreTools: {image: 'registry.example.com/Tools:1'}}",
                                       "spec: {modelDownloadJobs: {image: 'registry.example.com/puller:'}}"})
    EXPECT_TRUE(has_errors(review_of(kind, patch))) << patch;
  for (const std::string_view patch :
       {"spec: {datastoreTools: {image: 'registry.example.com:5000/tools:1.0'}}",
        "spec: {modelDownloadJobs: {image: 'registry.example.com/puller:1.0', registryApiSecret: {name: registry}}}"})
    EXPECT_FALSE(has_errors(review_of(kind, patch))) << patch << all_lines(review_of(kind, patch));
}

TEST(StackCustomizerRules, JobsOnSeveralNodesShareTheModels) {
  const auto models = [](std::string_view mode) {
    return "spec: {trainingConfig: {modelPVC: {volumeAccessMode: " + std::string(mode) + "}}}";
  };
  const std::string place = "spec.trainingConfig.modelPVC.volumeAccessMode";
  expect_rule(
      rule::model_volume_single_node, kind,
      {{models("ReadWriteOnce"), {place}}, {models("ReadWriteOncePod"), {place}}, {models("ReadWriteMany"), {}}});
  expect_rule(rule::model_volume_single_node, kind,
              {{"spec: {trainingConfig: {modelPVC: {name: c, create: false, size: null, volumeAccessMode: "
                "ReadWriteOnce}}}",
                {place}}});
  expect_rule(rule::claim_read_only, kind, {{models("ReadOnlyMany"), {place}}, {models("ReadWriteMany"), {}}});
}

TEST(StackCustomizerRules, AJobOnSeveralNodesSharesItsWorkspace) {
  const auto workspace = [](std::string_view mode, std::string_view network) {
    return "spec: {trainingConfig: {workspacePVC: {volumeAccessMode: " + std::string(mode) + "}, networkConfig: [" +
           std::string(network) + "]}}";
  };
  const std::string place = "spec.trainingConfig.workspacePVC.volumeAccessMode";
  expect_rule(rule::workspace_volume_single_node, kind,
              {{workspace("ReadWriteOnce", "{name: NCCL_DEBUG, value: INFO}"), {place}},
               {workspace("ReadWriteOncePod", "{name: NCCL_DEBUG, value: INFO}"), {place}},
               {workspace("ReadWriteMany", "{name: NCCL_DEBUG, value: INFO}"), {}},
               {workspace("ReadWriteOnce", ""), {}}});
  expect_rule(rule::claim_read_only, kind, {{workspace("ReadOnlyMany", ""), {place}}});
}

TEST(StackCustomizerRules, AMountPathLeavesTheSystemAlone) {
  const auto path = [](std::string_view text) {
    return "spec: {trainingConfig: {workspacePVC: {mountPath: '" + std::string(text) + "'}}}";
  };
  const std::string place = "spec.trainingConfig.workspacePVC.mountPath";
  expect_rule(rule::mount_path_invalid, kind,
              {{path("/pvc/workspace"), {}},
               {path("/w"), {}},
               {path("/process"), {}},
               {path("/devices/x"), {}},
               {path("/"), {place}},
               {path("//"), {place}},
               {path("/proc"), {place}},
               {path("/proc/"), {place}},
               {path("/proc/self"), {place}},
               {path("/sys/fs"), {place}},
               {path("/dev/shm"), {place}},
               {path("/pvc/../etc"), {place}}});
  for (const std::string_view folder :
       {"/bin",       "/boot",     "/dev",        "/etc",         "/lib",
        "/lib32",     "/lib64",    "/proc",       "/run",         "/sbin",
        "/sys",       "/usr",      "/usr/bin",    "/usr/lib",     "/usr/lib64",
        "/usr/local", "/usr/sbin", "/var/run",    "/run/secrets", "/var/run/secrets/kubernetes.io",
        "//usr",      "/usr/",     "/usr//lib/.", "/./etc"})
    expect_rule(rule::mount_path_invalid, kind, {{path(folder), {place}}});
  for (const std::string_view relative : {"usr", "./etc", "proc/x", "."}) {
    const Findings found = review_of(kind, path(relative));
    ASSERT_EQ(found.size(), 1U) << relative;
    EXPECT_EQ(found[0].fix, "write a folder of its own, for example \"/pvc/workspace\"") << "not /" << relative;
  }
  EXPECT_EQ(review_of(kind, path("workspace")).at(0).fix, "write \"/workspace\"");
  for (const std::string_view folder :
       {"/usr/local/models", "/usr/share/models", "/etc/training", "/run/workspace", "/usrs", "/library", "/tmp",
        "/opt", "/home", "/mnt", "/var/lib/models", "/workspace/usr", "/run/secretss"})
    expect_rule(rule::mount_path_invalid, kind, {{path(folder), {}}});
}

TEST(StackCustomizerRules, ATimeoutCountsSeconds) {
  expect_rule(rule::training_timeout_short, kind,
              {{"spec: {trainingConfig: {timeout: 59}}", {"spec.trainingConfig.timeout"}},
               {"spec: {trainingConfig: {timeout: 1}}", {"spec.trainingConfig.timeout"}},
               {"spec: {trainingConfig: {timeout: 60}}", {}},
               {"{}", {}}});
}

TEST(StackCustomizerRules, ThePodsOwnVariablesAreSetByTheLauncher) {
  expect_rule(rule::training_env_reserved, kind,
              {{"spec: {trainingConfig: {env: [{name: A, value: b}, {name: RANK, value: '0'}]}}",
                {"spec.trainingConfig.env[1].name"}},
               {"spec: {trainingConfig: {networkConfig: [{name: MASTER_ADDR, value: h}]}}",
                {"spec.trainingConfig.networkConfig[0].name"}},
               {"spec: {trainingConfig: {env: [{name: RANKS, value: '0'}]}}", {}}});
}

TEST(StackCustomizerRules, AVariableStandsInOneOfTheLists) {
  expect_rule(
      rule::training_env_overlap, kind,
      {{"spec: {trainingConfig: {env: [{name: UCX_TLS, value: a}], networkConfig: [{name: NCCL_DEBUG, value: b}, "
        "{name: UCX_TLS, value: c}]}}",
        {"spec.trainingConfig.networkConfig[1].name"}},
       {"spec: {trainingConfig: {env: [{name: UCX_TLS, value: a}], networkConfig: [{name: UCX_TLS2, value: c}]}}",
        {}}});
}

TEST(StackCustomizerRules, NetworkVariablesBelongToALibrary) {
  const auto name = [](std::string_view text) {
    return "spec: {trainingConfig: {networkConfig: [{name: " + std::string(text) + ", value: x}]}}";
  };
  for (const std::string_view good :
       {"NCCL_IB_SL", "NCCL_IB_TC", "NCCL_IB_QPS_PER_CONNECTION", "NCCL_IB_GID_INDEX", "UCX_TLS", "UCX_NET_DEVICES",
        "HCOLL_ENABLE_MCAST_ALL", "TORCH_NCCL_ASYNC_ERROR_HANDLING", "OMPI_MCA_btl", "FI_PROVIDER"})
    EXPECT_TRUE(review_of(kind, name(good)).empty()) << good << all_lines(review_of(kind, name(good)));
  const std::string place = "spec.trainingConfig.networkConfig[0].name";
  expect_rule(rule::network_variable_unknown, kind, {{name("LOG_LEVEL"), {place}}, {name("NCCL"), {place}}});
  EXPECT_EQ(fix_of(rule::network_variable_unknown, name("NCLL_DEBUG")), "did you mean NCCL_DEBUG?");
  EXPECT_EQ(fix_of(rule::network_variable_unknown, name("nccl_debug")), "did you mean NCCL_DEBUG?");
  EXPECT_EQ(fix_of(rule::network_variable_unknown, name("LOG_LEVEL")),
            "write one that begins with NCCL_, UCX_ or the like, or move it to env");
}

TEST(StackCustomizerRules, EachFaultOfTheSchedulerIsReportedOnce) {
  const Findings findings =
      review_of(kind, "spec: {scheduler: {type: gang, queueDialect: kai}, trainingConfig: {queueName: Team A}}");
  EXPECT_EQ(short_form(findings),
            (std::vector<std::string>{"warning spec.trainingConfig.queueName queue-name-ignored",
                                      "error spec.scheduler.queueDialect queue-dialect-needs-queue"}))
      << all_lines(findings);
}

}  // namespace stack_customizer_test
}  // namespace stackgate::validate::tests
