#include "services/customizer/catalogue/catalogue.hpp"

#include <gmock/gmock.h>

namespace stackgate::customizer {
namespace {

using testing::ElementsAre;
using testing::IsEmpty;
using Kind = ModelUri::Kind;

// The values of NeMo's own charts, as ConfigMaps hold them.
constexpr std::string_view nemo_targets = R"(overrideExistingTargets: true
targets:
  meta/llama-3.2-1b-instruct@2.0:
    base_model: meta/llama-3.2-1b-instruct
    enabled: true
    model_path: llama-3_2-1b-instruct_2_0
    model_uri: ngc://nvidia/nemo/llama-3_2-1b-instruct-nemo:2.0
    name: llama-3.2-1b-instruct@2.0
    namespace: meta
    num_parameters: 1000000000
    precision: bf16-mixed
  meta/away@1.0:
    enabled: false
    model_path: away
)";
constexpr std::string_view nemo_templates = R"(overrideExistingTemplates: true
templates:
  meta/llama-3.2-1b-instruct@v1.0.0+A100:
    max_seq_length: 4096
    name: llama-3.2-1b-instruct@v1.0.0+A100
    namespace: meta
    prompt_template: '{prompt} {completion}'
    target: meta/llama-3.2-1b-instruct@2.0
    training_options:
      - data_parallel_size: 1
        finetuning_type: all_weights
        micro_batch_size: 1
        num_gpus: 8
        training_type: sft
      - finetuning_type: lora
        micro_batch_size: 1
        num_gpus: 2
        num_nodes: 3
        training_type: sft
)";
constexpr std::string_view training = R"(container_defaults:
  imagePullPolicy: IfNotPresent
  resources: {requests: {cpu: 4, memory: 32Gi}, limits: {memory: 64Gi}}
  gpuResource: amd.com/gpu
  sharedMemory: 8Gi
  nodeSelector: {pool: training}
  priorityClassName: low
  imageStartsProcesses: true
hyperparameters:
  learning_rate: {default: 3e-5, min: 1e-6, max: 1e-3}
  num_epochs: {max: 10}
)";

CatalogueRead read(std::string_view targets, std::string_view templates = "", std::string_view defaults = "") {
  return read_catalogue(
      {{"customizationConfigTemplates", std::string(templates)}, {"customizationTargets", std::string(targets)}},
      {{"training", std::string(defaults)}});
}

std::vector<std::string> faults(const CatalogueRead& read, validate::Severity severity = validate::Severity::error) {
  std::vector<std::string> out;
  for (const validate::Finding& each : read.findings) {
    EXPECT_FALSE(each.fix.empty()) << each.path;
    if (each.severity == severity) out.push_back(each.path + " " + each.problem);
  }
  return out;
}

TEST(Catalogue, reads_NeMos_files) {
  const CatalogueRead found = read(nemo_targets, nemo_templates, training);
  EXPECT_THAT(faults(found), IsEmpty());
  EXPECT_THAT(
      faults(found, validate::Severity::warning),
      ElementsAre("customizationTargets:7: targets[\"meta/llama-3.2-1b-instruct@2.0\"].model_uri has a scheme that "
                  "our puller does not know"));
  const Target* target = found.catalogue.target_of("meta/llama-3.2-1b-instruct");
  ASSERT_NE(target, nullptr);
  EXPECT_EQ(target->name, "meta/llama-3.2-1b-instruct@2.0");
  EXPECT_EQ(target->path, "llama-3_2-1b-instruct_2_0");
  EXPECT_EQ(target->uri.kind, Kind::foreign);
  EXPECT_EQ(target->num_parameters, 1'000'000'000U);
  const ConfigTemplate* config = found.catalogue.template_for(*target);
  ASSERT_NE(config, nullptr);
  EXPECT_EQ(config->option.num_gpus, 2U);
  EXPECT_EQ(config->option.processes(), 6U);
  EXPECT_EQ(config->max_seq_length, 4096U);
  EXPECT_EQ(found.catalogue.template_of("meta/llama-3.2-1b-instruct"), config);
  EXPECT_EQ(found.catalogue.target_of("meta/away"), nullptr) << "it is not enabled";
  EXPECT_EQ(found.catalogue.target_of("meta/away@1.0"), nullptr);
}

TEST(Catalogue, reads_what_containers_and_hyperparameters_begin_with) {
  const Catalogue found = read(nemo_targets, nemo_templates, training).catalogue;
  EXPECT_EQ(found.container.pull_policy, "IfNotPresent");
  EXPECT_EQ(found.container.requests, (Amounts{{"cpu", "4"}, {"memory", "32Gi"}}));
  EXPECT_EQ(found.container.limits, (Amounts{{"memory", "64Gi"}}));
  EXPECT_EQ(found.container.gpu_resource, "amd.com/gpu");
  EXPECT_EQ(found.container.shared_memory, "8Gi");
  EXPECT_EQ(found.container.node_selector, R"({"pool":"training"})");
  EXPECT_EQ(found.container.priority_class, "low");
  EXPECT_TRUE(found.container.image_starts_processes);
  EXPECT_EQ(found.defaults.learning_rate, 3e-5);
  EXPECT_EQ(found.bounds.at("learning_rate").least, 1e-6);
  EXPECT_EQ(found.bounds.at("num_epochs").most, 10);
  EXPECT_FALSE(found.bounds.at("num_epochs").least);
  EXPECT_FALSE(found.defaults.num_epochs);
}

TEST(Catalogue, finds_parts_by_a_member_at_the_top_and_in_JSON) {
  const CatalogueRead found =
      read_catalogue({{"all.json", R"({"customizationTargets":{"targets":{"a/b@1":{"model_path":"b"}}},
                       "customizationConfigTemplates":{"templates":{"a/b@v1":{"target":"a/b@1"}}}})"}},
                     {});
  EXPECT_THAT(found.findings, IsEmpty());
  EXPECT_EQ(found.catalogue.target_of("a/b")->base_model, "a/b");
  EXPECT_EQ(found.catalogue.template_of("a/b@v1")->option.num_gpus, 1U);
  EXPECT_THAT(faults(read_catalogue({{"notes", "a: 1"}}, {}), validate::Severity::warning),
              ElementsAre("notes:1 holds nothing that is known"));
}

TEST(Catalogue, takes_the_newest_version_of_a_name) {
  const Catalogue found =
      read(
          "targets:\n  a/b@1.0: {model_path: one}\n  a/b@1.1: {model_path: two}\n"
          "  a/b@1.2: {model_path: three, enabled: false}\n  c/d@1: {model_path: d, base_model: hub/d}\n")
          .catalogue;
  EXPECT_EQ(found.target_of("a/b")->path, "two");
  EXPECT_EQ(found.target_of("a/b@1.0")->path, "one");
  EXPECT_EQ(found.target_of("hub/d")->path, "d");
  EXPECT_EQ(found.target_of("a"), nullptr);
}

TEST(Catalogue, knows_where_models_come_from) {
  const auto uri = [](std::string_view text) { return parse_model_uri(text).value_or(ModelUri{}); };
  EXPECT_EQ(uri("hf://meta-llama/Llama-3.2-1B@main").kind, Kind::registry);
  EXPECT_EQ(uri("hf://meta-llama/Llama-3.2-1B@main").repository, "meta-llama/Llama-3.2-1B");
  EXPECT_EQ(uri("hf://meta-llama/Llama-3.2-1B@main").revision, "main");
  EXPECT_EQ(uri("datastore://ada/tiny").kind, Kind::datastore);
  EXPECT_EQ(uri("https://files.example.com/llama").kind, Kind::directory);
  EXPECT_EQ(uri("ngc://nvidia/nemo/x:2.0").kind, Kind::foreign);
  for (const char* bad :
       {"", "meta/llama", "hf://", "hf://one", "hf://a/b/c", "://a/b", "https://u:p@files.example.com"})
    EXPECT_FALSE(parse_model_uri(bad)) << bad;
}

TEST(Catalogue, reports_every_fault_with_its_line_and_leaves_that_entry_out) {
  const CatalogueRead found = read(R"(targets:
  bad: {model_path: x}
  a/b@1:
    model_uri: somewhere
    model_path: ../up
  a/c@1: {}
  a/d@1: 7
  a/good@1: {model_path: good, num_parameters: 0}
  a/fine@1: {model_path: fine}
)",
                                   R"(templates:
  a/b@v1: {target: a/fine@2}
  a/c@v1: {training_options: [{training_type: dpo}], prompt_template: "{prompt}"}
  a/d@v1: {target: a/fine@1, training_options: [{num_gpus: 65, num_nodes: 0}]}
)",
                                   R"(container_defaults:
  imagePullPolicy: Sometimes
  sharedMemory: much
hyperparameters:
  learning_rat: {max: 1}
  lora_rank: {min: 8, max: 4}
  batch_size: {max: 16, default: 32}
  num_epochs: {default: 2000}
)");
  EXPECT_THAT(
      faults(found),
      ElementsAre(
          "customizationConfigTemplates:3: templates[\"a/c@v1\"] lacks \"target\"",
          "customizationConfigTemplates:3: templates[\"a/c@v1\"].prompt_template lacks {prompt} or {completion}",
          "customizationConfigTemplates:3: templates[\"a/c@v1\"].training_options has no option with training_type sft "
          "and finetuning_type lora",
          "customizationConfigTemplates:4: templates[\"a/d@v1\"].training_options[0].num_nodes must be a whole number "
          "from 1 to 1024",
          "customizationConfigTemplates:4: templates[\"a/d@v1\"].training_options[0].num_gpus must be a whole number "
          "from 0 to 64",
          "customizationTargets:2: targets[\"bad\"] its name is not <namespace>/<name>[@<version>]",
          "customizationTargets:4: targets[\"a/b@1\"].model_uri is no address of a model",
          "customizationTargets:5: targets[\"a/b@1\"].model_path has the part \"..\"",
          "customizationTargets:6: targets[\"a/c@1\"] lacks \"model_path\"",
          "customizationTargets:7: targets[\"a/d@1\"] must be a map",
          "customizationTargets:8: targets[\"a/good@1\"].num_parameters must be the number of parameters",
          "training:2: container_defaults.imagePullPolicy the policy \"Sometimes\" is not served",
          "training:3: container_defaults.sharedMemory must be a quantity, a number with an optional unit, but 'm' "
          "(character 1) stands where a digit belongs",
          "training:5: hyperparameters.learning_rat is no hyperparameter that is a number",
          "training:6: hyperparameters.lora_rank.min is above max, 4",
          "training:7: hyperparameters.batch_size.default lies outside of min and max",
          "training:8: hyperparameters.num_epochs.default must be a whole number from 1 to 1000",
          "customizationConfigTemplates:2: templates[\"a/b@v1\"].target there is no good target \"a/fine@2\""));
  EXPECT_EQ(found.catalogue.targets.size(), 1U);
  EXPECT_THAT(found.catalogue.templates, IsEmpty());
  EXPECT_EQ(found.findings.back().fix, "did you mean \"a/fine@1\"?");
}

TEST(Catalogue, warns_of_what_it_does_not_know) {
  const CatalogueRead found =
      read("targets:\n  a/b@1: {model_path: b, model_pth: c, name: other}\nextra: 1\n",
           "templates:\n  a/b@v1: {target: a/b@1, training_options: [{tensor_parallel_size: 2}]}\n");
  EXPECT_THAT(faults(found), IsEmpty());
  EXPECT_THAT(
      faults(found, validate::Severity::warning),
      ElementsAre("customizationConfigTemplates:2: templates[\"a/b@v1\"].training_options[0].tensor_parallel_size is "
                  "above 1, and our trainer splits the data alone",
                  "customizationTargets:3: extra is not known",
                  "customizationTargets:2: targets[\"a/b@1\"].model_pth is not known",
                  "customizationTargets:2: targets[\"a/b@1\"].name is not that of the entry, \"b@1\""));
}

TEST(Catalogue, reports_what_is_no_YAML) {
  EXPECT_EQ(faults(read("targets: [")).size(), 1U);
  EXPECT_THAT(faults(read("- a")), ElementsAre("customizationTargets:1 must be a map"));
  EXPECT_THAT(faults(read("targets: {}\n---\ntargets: {}")),
              ElementsAre("customizationTargets:3 is a second document"));
  EXPECT_THAT(faults(read("targets: 7")), ElementsAre("customizationTargets:1: targets must be a map"));
  EXPECT_THAT(read("").findings, IsEmpty());
}

}  // namespace
}  // namespace stackgate::customizer
