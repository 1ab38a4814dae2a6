#include "services/customizer/objects/plan.hpp"

#include <map>
#include <set>

#include <gmock/gmock.h>
#include <nlohmann/json.hpp>

#include "services/customizer/objects/names.hpp"
#include "services/kit/grammar/names.hpp"
#include "services/kit/settings/names.hpp"
#include "services/puller/program/options.hpp"
#include "services/trainer/program/options.hpp"
#include "tests/customizer/objects/objects_support.hpp"

namespace stackgate::customizer {
namespace {

using namespace tests;
using testing::Contains;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::Not;
using Tree = nlohmann::json;
using Environment = std::map<std::string, std::string>;

constexpr std::array schedulers = {Scheduler::volcano, Scheduler::runai, Scheduler::kai, Scheduler::kueue,
                                   Scheduler::plain};

Tree body(const PlannedObject& object) { return Tree::parse(object.body); }

Tree template_of(const Tree& job) {
  return job["spec"].contains("tasks") ? job["spec"]["tasks"][0]["template"] : job["spec"]["template"];
}

Environment environment(const Tree& pod) {
  Environment out;
  for (const Tree& each : pod["spec"]["containers"][0]["env"])
    out[each["name"]] = each.contains("value") ? each["value"].get<std::string>() : each["valueFrom"].dump();
  return out;
}

/// The Job, which comes last.
Tree training(const TrainingJob& job, Scheduler scheduler, const ContainerDefaults& defaults = full_defaults()) {
  return body(training_objects(job, full_setup(scheduler), defaults, addresses(), 1).back());
}

TrainingJob with(TrainingOption option) {
  TrainingJob out = full_job();
  out.option = option;
  return out;
}

std::set<std::string> variables_of(const settings::Program& program) {
  std::set<std::string> out;
  for (const settings::Setting& setting : program.settings) {
    out.insert(settings::variable_of(setting));
    if (setting.kind == settings::Kind::secret) out.insert(settings::variable_of(setting) + "_FILE");
  }
  return out;
}

TEST(Objects, give_the_trainer_only_what_it_reads) {
  const auto known = variables_of(trainer::program());
  for (const Scheduler scheduler : schedulers)
    for (const auto& [name, value] : environment(template_of(training(with({.num_nodes = 2}), scheduler))))
      EXPECT_TRUE(known.contains(name) || !name.starts_with("STACKGATE_")) << name;
  for (const char* name : {"RANK", "WORLD_SIZE", "MASTER_ADDR", "MASTER_PORT", "NPROC_PER_NODE"})
    EXPECT_THAT(known, Contains(name));
}

TEST(Objects, give_the_puller_only_what_it_reads) {
  const auto known = variables_of(puller::program());
  for (const char* uri : {"hf://a/b@main", "datastore://a/b", "https://files.example.com/b", "ngc://a/b:1"}) {
    TrainingJob job = full_job();
    job.target.uri = *parse_model_uri(uri);
    const auto objects = download_objects(job, full_setup(Scheduler::plain), addresses(), 1);
    ASSERT_EQ(objects.size(), 2U);
    for (const PlannedObject& each : objects)
      for (const auto& [name, value] : environment(template_of(body(each))))
        EXPECT_TRUE(known.contains(name) || name == "TRACEPARENT") << uri << ": " << name;
  }
}

TEST(Objects, give_the_upload_only_what_it_reads_and_all_that_it_needs) {
  const auto object = upload_objects(full_job(), full_setup(Scheduler::plain), addresses(), "{}", "", 1).back();
  const Environment given = environment(template_of(body(object)));
  EXPECT_EQ(template_of(body(object))["spec"]["containers"][0]["args"], Tree({"upload"}));
  const std::vector<const char*> words{"upload"};
  const auto read = settings::read(
      puller::program(), words,
      [&](const std::string& name) {
        const auto found = given.find(name);
        return found == given.end() ? std::nullopt : std::optional(found->second);
      },
      [](const std::string&) { return std::nullopt; }, "0");
  EXPECT_TRUE(read.findings.empty());
  const auto asked = puller::asked_upload_of(read.values);
  EXPECT_TRUE(asked.findings.empty());
  EXPECT_EQ(asked.upload.url, addresses().entitystore_url);
  EXPECT_EQ(asked.upload.archive, workspace_paths(full_setup(Scheduler::plain)).archive);
  EXPECT_FALSE(asked.upload.metadata.empty());
}

TEST(Objects, have_names_made_of_id_stage_and_attempt) {
  EXPECT_EQ(job_name("cust-1", Stage::training, 2), "cust-1-training-2");
  const std::string longest = job_name("cust-" + std::string(35, 'a'), Stage::download, 999'999);
  EXPECT_FALSE(validate::grammar::check_dns1035_label(longest)) << longest;
  const Target one{.uri = *parse_model_uri("hf://a/b@1"), .path = "b"},
      two{.uri = *parse_model_uri("hf://a/b@2"), .path = "b"};
  EXPECT_EQ(model_job_name(one, "c"), model_job_name(one, "c"));
  EXPECT_NE(model_job_name(one, "c"), model_job_name(two, "c"));
  EXPECT_NE(model_job_name(one, "c"), model_job_name(one, "d"));
  EXPECT_FALSE(validate::grammar::check_dns1035_label(model_job_name(one, "c")));
}

TEST(Objects, belong_to_the_customizer_and_carry_its_labels) {
  const JobSetup setup = full_setup(Scheduler::kueue);
  std::vector<PlannedObject> all = common_objects(full_job(), setup);
  for (auto& more : {download_objects(full_job(), setup, addresses(), 3),
                     training_objects(with({.num_nodes = 2}), setup, full_defaults(), addresses(), 3),
                     upload_objects(full_job(), setup, addresses(), "{}", "", 3)})
    all.insert(all.end(), more.begin(), more.end());
  for (const PlannedObject& each : all) {
    const Tree metadata = body(each)["metadata"];
    EXPECT_EQ(metadata["name"], each.name);
    EXPECT_EQ(metadata["ownerReferences"][0]["uid"], setup.owner.uid) << each.name;
    EXPECT_FALSE(metadata["ownerReferences"][0].contains("controller")) << "the operator would take it for its own";
    EXPECT_EQ(metadata["labels"]["app.kubernetes.io/managed-by"], "stackgate-customizer");
    EXPECT_FALSE(metadata["labels"].contains("app")) << "the customizer's Service would send requests there";
    if (each.shared) continue;
    EXPECT_EQ(metadata["labels"][std::string(customization_label)], full_job().id) << each.name;
  }
}

TEST(Objects, keep_the_token_in_the_Secret_alone) {
  for (const Scheduler scheduler : schedulers) {
    const JobSetup setup = full_setup(scheduler);
    int holders = 0;
    for (const auto& objects : {common_objects(full_job(), setup), download_objects(full_job(), setup, addresses(), 1),
                                training_objects(full_job(), setup, full_defaults(), addresses(), 1)})
      for (const PlannedObject& each : objects) {
        EXPECT_THAT(each.body, Not(HasSubstr("very-secret-token")));
        holders += each.body.contains("dmVyeS1zZWNyZXQtdG9rZW4=") ? 1 : 0;
      }
    EXPECT_EQ(holders, 1);
  }
}

TEST(Objects, run_a_pod_for_each_process) {
  const Tree job = training(with({.num_nodes = 2, .num_gpus = 4}), Scheduler::plain);
  EXPECT_EQ(job["spec"]["completions"], 8);
  const Tree pod = template_of(job);
  EXPECT_EQ(pod["spec"]["containers"][0]["resources"]["limits"]["nvidia.com/gpu"], "1");
  const Environment env = environment(pod);
  EXPECT_EQ(env.at("WORLD_SIZE"), "8");
  EXPECT_EQ(env.at("NNODES"), "8");
  EXPECT_EQ(env.at("NPROC_PER_NODE"), "1");
  EXPECT_EQ(env.at("LOCAL_RANK"), "0");
  EXPECT_EQ(env.at("MASTER_ADDR"), "cust-1a2b3c4d5e6f-training-1-0.cust-1a2b3c4d5e6f-training-1");
  EXPECT_EQ(pod["spec"]["subdomain"], "cust-1a2b3c4d5e6f-training-1");
}

TEST(Objects, run_a_pod_for_each_node_where_the_image_starts_processes) {
  ContainerDefaults defaults = full_defaults();
  defaults.image_starts_processes = true;
  const Tree job = training(with({.num_nodes = 2, .num_gpus = 4}), Scheduler::volcano, defaults);
  EXPECT_EQ(job["spec"]["minAvailable"], 2);
  const Tree pod = template_of(job);
  EXPECT_EQ(pod["spec"]["containers"][0]["resources"]["limits"]["nvidia.com/gpu"], "4");
  const Environment env = environment(pod);
  EXPECT_EQ(env.at("WORLD_SIZE"), "8");
  EXPECT_EQ(env.at("NNODES"), "2");
  EXPECT_EQ(env.at("NPROC_PER_NODE"), "4");
  EXPECT_THAT(env.at("NODE_RANK"), HasSubstr("volcano.sh/task-index"));
  EXPECT_FALSE(env.contains("RANK"));
  EXPECT_FALSE(env.contains("LOCAL_RANK"));
}

TEST(Objects, stay_until_their_end_can_be_recorded) {
  for (const Scheduler scheduler : schedulers) {
    JobSetup setup = full_setup(scheduler);
    setup.training.ttl_seconds = setup.model_download.ttl_seconds = 0;
    std::vector<PlannedObject> all = training_objects(full_job(), setup, full_defaults(), addresses(), 1);
    for (auto& more : {download_objects(full_job(), setup, addresses(), 1),
                       upload_objects(full_job(), setup, addresses(), "{}", "node-1", 1)})
      all.insert(all.end(), more.begin(), more.end());
    int jobs = 0;
    for (const PlannedObject& each : all)
      if (const Tree spec = body(each)["spec"]; spec.contains("ttlSecondsAfterFinished")) {
        EXPECT_EQ(spec["ttlSecondsAfterFinished"], 300) << each.name;
        ++jobs;
      }
    EXPECT_GE(jobs, 3);
  }
}

TEST(Objects, ask_for_no_GPU_where_none_is_wanted_and_always_for_cpu_and_memory) {
  const Tree pod = template_of(training(with({.num_gpus = 0}), Scheduler::kueue, {}));
  EXPECT_EQ(pod["spec"]["containers"][0]["resources"], Tree::parse(R"({"requests":{"cpu":"1","memory":"4Gi"}})"));
}

TEST(Objects, let_the_users_variables_win) {
  JobSetup setup = full_setup(Scheduler::plain);
  setup.training.network_env.push_back(pods::env_value("MASTER_PORT", "12345"));
  const auto job = training_objects(full_job(), setup, full_defaults(), addresses(), 1).back();
  EXPECT_EQ(environment(template_of(body(job))).at("MASTER_PORT"), "12345");
}

TEST(Objects, name_models_as_their_address_says) {
  const auto model_env = [](const char* uri) {
    TrainingJob job = full_job();
    job.target.uri = *parse_model_uri(uri);
    return environment(template_of(body(download_objects(job, full_setup(Scheduler::plain), addresses(), 1).front())));
  };
  Environment env = model_env("datastore://ada/tiny@v1");
  EXPECT_EQ(env.at("STACKGATE_PULL_SOURCE"), "datastore");
  EXPECT_EQ(env.at("STACKGATE_PULL_ENDPOINT"), "http://datastore:8000");
  EXPECT_EQ(env.at("STACKGATE_PULL_REPOSITORY"), "ada/tiny");
  EXPECT_EQ(env.at("STACKGATE_PULL_REVISION"), "v1");
  EXPECT_TRUE(env.contains("DATASTORE_PASSWORD"));
  EXPECT_FALSE(env.contains("REGISTRY_API_KEY")) << "a key goes to its own server";
  env = model_env("https://files.example.com/b");
  EXPECT_EQ(env.at("STACKGATE_PULL_SOURCE"), "directory");
  EXPECT_EQ(env.at("STACKGATE_PULL_ENDPOINT"), "https://files.example.com/b");
  EXPECT_FALSE(env.contains("DATASTORE_PASSWORD"));
  EXPECT_EQ(model_env("ngc://a/b:1").at("STACKGATE_PULL_PROFILES"), R"(["ngc://a/b:1"])");
}

TEST(Objects, download_no_model_that_is_there_already) {
  TrainingJob job = full_job();
  job.target.uri = {};
  EXPECT_EQ(download_objects(job, full_setup(Scheduler::plain), addresses(), 1).size(), 1U);
}

TEST(Objects, upload_from_anywhere_where_the_claim_can_be_mounted_anywhere) {
  const auto upload = [](std::string_view mode, std::string_view node) {
    JobSetup setup = full_setup(Scheduler::plain);
    setup.workspace.access_mode = mode;
    return body(upload_objects(full_job(), setup, addresses(), "{}", node, 1).back())["spec"]["template"]["spec"];
  };
  EXPECT_TRUE(upload("ReadWriteOnce", "node-7").contains("affinity"));
  EXPECT_TRUE(upload("ReadWriteOnce", "node-7").contains("tolerations"));
  EXPECT_FALSE(upload("ReadWriteOnce", "").contains("affinity"));
  EXPECT_FALSE(upload("ReadWriteMany", "node-7").contains("affinity"));
}

TEST(Objects, of_an_empty_storage_class_ask_for_none) {
  JobSetup setup = full_setup(Scheduler::plain);
  setup.workspace.storage_class = "";
  EXPECT_EQ(body(common_objects(full_job(), setup)[0])["spec"]["storageClassName"], "");
  setup.workspace.storage_class.reset();
  EXPECT_FALSE(body(common_objects(full_job(), setup)[0])["spec"].contains("storageClassName"));
}

/// Pod Security's level restricted.
TEST(Objects, run_in_restricted_namespaces) {
  for (const Scheduler scheduler : schedulers) {
    const JobSetup setup = full_setup(scheduler);
    std::vector<PlannedObject> all = download_objects(full_job(), setup, addresses(), 1);
    for (auto& more : {training_objects(full_job(), setup, full_defaults(), addresses(), 1),
                       upload_objects(full_job(), setup, addresses(), "{}", "", 1)})
      all.insert(all.end(), more.begin(), more.end());
    for (const PlannedObject& each : all) {
      if (body(each)["kind"] != "Job") continue;
      const Tree spec = template_of(body(each))["spec"];
      EXPECT_EQ(spec["securityContext"]["runAsNonRoot"], true) << each.name;
      EXPECT_EQ(spec["securityContext"]["seccompProfile"]["type"], "RuntimeDefault") << each.name;
      EXPECT_EQ(spec["containers"][0]["securityContext"]["capabilities"]["drop"], Tree({"ALL"})) << each.name;
      EXPECT_EQ(spec["automountServiceAccountToken"], false) << each.name;
    }
  }
}

}  // namespace
}  // namespace stackgate::customizer
