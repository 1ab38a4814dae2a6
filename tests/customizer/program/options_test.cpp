#include <filesystem>
#include <map>
#include <thread>
#include <vector>

#include <gmock/gmock.h>

#include "services/customizer/program/program.hpp"
#include "tests/support/temp_dir.hpp"

namespace stackgate::customizer {
namespace {

settings::Outcome read(std::map<std::string, std::string> variables, const std::vector<const char*>& flags = {}) {
  const auto variable = [&](const std::string& name) -> std::optional<std::string> {
    const auto found = variables.find(name);
    return found == variables.end() ? std::nullopt : std::optional(found->second);
  };
  const auto no_file = [](const std::string&) -> std::optional<std::string> { return std::nullopt; };
  auto out = settings::read(program(), flags, variable, no_file, "1");
  if (out.findings.empty()) out.findings = check_options(out.values);
  return out;
}

const std::map<std::string, std::string> good{{"STACKGATE_DATASTORE_URL", "http://datastore:8000/v1/hf"},
                                              {"STACKGATE_ENTITYSTORE_URL", "http://entitystore:8000"},
                                              {"STACKGATE_DATA_DIR", "/data"}};

TEST(CustomizerOptions, become_limits_and_places) {
  auto variables = good;
  variables["STACKGATE_KEEP"] = "5m";
  variables["STACKGATE_TRAINING_LIMIT"] = "2h";
  const auto got = read(variables, {"--local-trainings", "3", "--programs-dir", "/opt/bin"});
  ASSERT_THAT(got.findings, testing::IsEmpty()) << settings::to_text(program(), got.findings);
  const Limits limits = limits_of(got.values);
  EXPECT_EQ(limits.keep, 300);
  EXPECT_EQ(limits.training, 7'200);
  EXPECT_EQ(limits.keep_failed, 86'400);
  const LocalOptions local = local_options(got.values, "http://127.0.0.1:1");
  EXPECT_EQ(local.directory, "/data/jobs");
  EXPECT_EQ(local.models, "/data/models");
  EXPECT_EQ(local.programs, "/opt/bin");
  EXPECT_EQ(local.trainings, 3U);
  EXPECT_EQ(local.addresses.entitystore_url, "http://entitystore:8000");
  EXPECT_EQ(folders_of(got.values).model_files, "/data/models");
}

TEST(CustomizerOptions, name_directories_that_stages_find_from_theirs) {
  auto variables = good;
  variables["STACKGATE_DATA_DIR"] = "data";
  const auto got = read(variables, {"--programs-dir", "bin", "--models-dir", "models"});
  ASSERT_THAT(got.findings, testing::IsEmpty()) << settings::to_text(program(), got.findings);
  const LocalOptions local = local_options(got.values, "http://127.0.0.1:1");
  for (const std::string& each : {local.directory, local.models, local.programs}) EXPECT_EQ(each.front(), '/') << each;
}

TEST(CustomizerOptions, of_trackers_are_the_operators) {
  auto variables = good;
  variables["STACKGATE_TRACKING_URL"] = "http://mlflow:5000";
  variables["MLFLOW_TRACKING_TOKEN"] = "word";
  variables["STACKGATE_TRACKER_API_KEY"] = "key";
  variables["STACKGATE_TRACKER_ENCRYPTION_KEY"] = "at rest";
  variables["STACKGATE_TRACKER_ENTITY"] = "team";
  variables["STACKGATE_TRACKER_PROJECT"] = "adapters";
  const auto got = read(variables);
  ASSERT_THAT(got.findings, testing::IsEmpty()) << settings::to_text(program(), got.findings);
  EXPECT_EQ(mlflow_options(got.values).server.url, "http://mlflow:5000");
  EXPECT_EQ(mlflow_options(got.values).server.token, "word");
  EXPECT_EQ(mlflow_options(got.values).experiment, "customizations");
  const WandbOptions wandb = wandb_options(got.values);
  EXPECT_EQ(wandb.api_key, "key");
  EXPECT_EQ(wandb.encryption_key, "at rest");
  EXPECT_EQ(wandb.entity, "team");
  EXPECT_EQ(wandb.project, "adapters");
  EXPECT_EQ(wandb.url, "https://api.wandb.ai");
}

TEST(CustomizerOptions, want_both_neighbours_and_whole_credentials) {
  EXPECT_THAT(read({}).findings, testing::SizeIs(testing::Ge(2U)));
  auto variables = good;
  variables["DATASTORE_USERNAME"] = "ada";
  const auto got = read(variables);
  ASSERT_THAT(got.findings, testing::SizeIs(1));
  EXPECT_EQ(got.findings[0].path, "--datastore-password-file");
}

TEST(CustomizerOptions, of_a_cluster_have_no_place_for_those_of_this_machine) {
  auto variables = good;
  variables["STACKGATE_CUSTOMIZER_CONFIG_FILE"] = "/etc/stackgate/config/config.json";
  variables["STACKGATE_CALLBACK_URL"] = "http://customizer.team.svc:9009";
  const auto got = read(variables);
  EXPECT_THAT(got.findings, testing::IsEmpty());
  EXPECT_EQ(folders_of(got.values).model_files, "");
  variables.erase("STACKGATE_CALLBACK_URL");
  const auto wrong = read(variables, {"--local-trainings", "2"});
  ASSERT_THAT(wrong.findings, testing::SizeIs(2));
  EXPECT_EQ(wrong.findings[0].path, "--local-trainings");
  EXPECT_EQ(wrong.findings[1].path, "--callback-url");
}

TEST(CustomizerOptions, of_other_commands_are_those_that_they_use) {
  EXPECT_THAT(read({}, {"migrate"}).findings, testing::IsEmpty());
  EXPECT_THAT(read({}, {"check"}).findings, testing::IsEmpty());
  EXPECT_THAT(read({}, {"check", "--customizer-config-file", "config.json"}).findings, testing::IsEmpty());
  EXPECT_THAT(read({}, {"serve"}).findings, testing::SizeIs(2));
}

TEST(CatalogueFolders, are_read_again_when_they_change) {
  const test::TempDir folder;
  const auto write = [&](std::string_view text) { folder.write("customizationTargets", text); };
  write("targets:\n  a/b@1: {model_path: b}\n");
  const CatalogueFolder catalogue({.models = folder / "", .look = std::chrono::milliseconds(20)});
  EXPECT_EQ(catalogue.now()->targets.size(), 1U);
  write("targets:\n  a/b@1: {model_path: b}\n  a/c@1: {model_path: c}\n");
  for (int i = 0; i < 500 && catalogue.now()->targets.size() < 2; ++i)
    std::this_thread::sleep_for(std::chrono::milliseconds(10));
  EXPECT_EQ(catalogue.now()->targets.size(), 2U);
  EXPECT_THAT(catalogue.findings(), testing::IsEmpty());
}

TEST(CatalogueFolders, are_read_when_somebody_misses_something) {
  const test::TempDir folder;
  CatalogueFolder catalogue({.model_files = folder / "", .look = std::chrono::hours(1)});
  EXPECT_EQ(catalogue.fresh()->targets.size(), 0U);
  std::filesystem::create_directories(folder / "acme/tiny");
  folder.write("acme/tiny/config.json", "{}");
  EXPECT_EQ(catalogue.now()->targets.size(), 0U);
  const auto begun = std::chrono::steady_clock::now();
  EXPECT_EQ(catalogue.fresh()->targets.size(), 1U);
  EXPECT_EQ(catalogue.now()->targets.size(), 1U);
  // Many who miss something share readings.
  std::vector<std::jthread> others;
  for (int i = 0; i < 40; ++i) others.emplace_back([&] { EXPECT_EQ(catalogue.fresh()->targets.size(), 1U); });
  others.clear();
  const auto took = std::chrono::steady_clock::now() - begun;
  EXPECT_GE(took, std::chrono::milliseconds(150)) << "a pause between two";
  EXPECT_LT(took, std::chrono::milliseconds(2'000)) << "and not one for each";
}

}  // namespace
}  // namespace stackgate::customizer
