// What is written for each scheduler, on one node and on two: golden/<what>.yaml.
#include <cstdlib>
#include <fstream>
#include <sstream>

#include <gmock/gmock.h>

#include "services/kit/json/parse.hpp"
#include "services/kit/yaml_writer/write.hpp"
#include "tests/customizer/objects/objects_support.hpp"
#include "tests/support/paths.hpp"

namespace stackgate::customizer {
namespace {

using namespace tests;

std::string as_yaml(const std::vector<PlannedObject>& objects) {
  std::string out;
  for (const PlannedObject& each : objects) {
    json::Document document;
    const auto root = json::parse(each.body, document);
    if (!root) throw std::runtime_error(each.name + ": " + root.error().message);
    out += out.empty() ? "" : "---\n";
    out += yaml::to_yaml(*root);
  }
  return out;
}

/// Written anew with UPDATE_GOLDEN=1; what changes is then read before it is committed.
void expect_golden(const std::string& name, const std::string& text) {
  const auto file = test::source_dir() / "tests/customizer/objects/golden" / (name + ".yaml");
  if (std::getenv("UPDATE_GOLDEN") != nullptr) std::ofstream(file) << text;
  std::ostringstream wanted;
  wanted << std::ifstream(file).rdbuf();
  EXPECT_EQ(text, wanted.str()) << file;
}

struct Case {
  const char* name;
  Scheduler scheduler;
};

class Trainings : public testing::TestWithParam<Case> {};

TEST_P(Trainings, on_one_node_are_as_they_were) {
  expect_golden(
      std::string("training-") + GetParam().name + "-1",
      as_yaml(training_objects(full_job(), full_setup(GetParam().scheduler), full_defaults(), addresses(), 1)));
}

TEST_P(Trainings, on_two_nodes_are_as_they_were) {
  TrainingJob job = full_job();
  job.option.num_nodes = 2;
  expect_golden(std::string("training-") + GetParam().name + "-2",
                as_yaml(training_objects(job, full_setup(GetParam().scheduler), full_defaults(), addresses(), 1)));
}

INSTANTIATE_TEST_SUITE_P(Schedulers, Trainings,
                         testing::Values(Case{"volcano", Scheduler::volcano}, Case{"runai", Scheduler::runai},
                                         Case{"kai", Scheduler::kai}, Case{"kueue", Scheduler::kueue},
                                         Case{"plain", Scheduler::plain}),
                         [](const auto& each) { return each.param.name; });

TEST(Objects, of_the_other_stages_are_as_they_were) {
  const JobSetup setup = full_setup(Scheduler::volcano);
  expect_golden("common", as_yaml(common_objects(full_job(), setup)));
  expect_golden("download", as_yaml(download_objects(full_job(), setup, addresses(), 1)));
  expect_golden("upload",
                as_yaml(upload_objects(full_job(), setup, addresses(), R"({"name":"support-bot"})", "node-7", 1)));
}

}  // namespace
}  // namespace stackgate::customizer
