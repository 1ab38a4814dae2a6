// What can be customized, and how: base models (targets), configurations of trainings (templates), what containers and
// hyperparameters begin with. Pure; values are immutable once read.
// Source: NeMo Customizer's customizationTargets and customizationConfigTemplates.
#pragma once
#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "services/kit/findings/finding.hpp"
#include "services/model/hyperparameters/hyperparameters.hpp"

namespace stackgate::customizer {

/// Where a model's files come from.
struct ModelUri {
  enum class Kind : std::uint8_t {
    none,       // they lie in the models' claim already
    registry,   // hf://OWNER/NAME[@REVISION]
    datastore,  // datastore://OWNER/NAME[@REVISION]
    directory,  // http(s)://…: a folder with a list of checksums
    foreign,    // another scheme: for a download image that knows it
  };
  Kind kind = Kind::none;
  std::string text{};                    // as written
  std::string repository{}, revision{};  // of the first two
};

/// Nothing of a text that is none.
std::optional<ModelUri> parse_model_uri(std::string_view text);

struct Target {
  std::string name{};        // "meta/llama-3.2-1b-instruct@2.0"
  std::string base_model{};  // what an adapter's records call it; the name without its version, where none is written
  ModelUri uri{};
  std::string path{};  // of its directory in the models' claim
  bool enabled = true;
  std::uint64_t num_parameters = 0;  // 0: not known
  std::string precision{};
};

/// One way to train: all are supervised LoRA.
struct TrainingOption {
  std::uint32_t num_nodes = 1, num_gpus = 1;  // GPUs of a node; 0: on its CPU
  std::optional<std::uint32_t> micro_batch_size{};
  std::uint32_t processes() const { return num_nodes * (num_gpus == 0 ? 1 : num_gpus); }
};

struct ConfigTemplate {
  std::string name{};    // "meta/llama-3.2-1b-instruct@v1.0.0+A100"
  std::string target{};  // a Target's name
  TrainingOption option{};
  std::optional<std::uint32_t> max_seq_length{};
  std::string prompt_template{};  // "{prompt} {completion}": shown, and checked against the dataset
};

using Amounts = std::map<std::string, std::string, std::less<>>;  // resource → quantity

/// What training containers begin with.
struct ContainerDefaults {
  std::string pull_policy{};
  Amounts requests{}, limits{};
  std::string gpu_resource = "nvidia.com/gpu";
  /// False: a pod for each process, as our trainer wants it. True: a pod for each node, whose image starts as many
  /// processes as it has GPUs, as torchrun does.
  bool image_starts_processes = false;
  std::string shared_memory{};  // quantity; empty: as much as the node has
  std::string node_selector{};  // JSON; empty for none
  std::string priority_class{};
};

/// Closer bounds of a hyperparameter than the trainer's own.
struct Bounds {
  std::optional<double> least{}, most{};
};

struct Catalogue {
  std::map<std::string, Target, std::less<>> targets{};
  std::map<std::string, ConfigTemplate, std::less<>> templates{};
  ContainerDefaults container{};
  model::Hyperparameters defaults{};
  std::map<std::string, Bounds, std::less<>> bounds{};

  /// The enabled target that `model` names: its name, with or without the version, or its base_model. Of several the
  /// last one by name: the newest version. nullptr: there is none.
  const Target* target_of(std::string_view model) const;
  /// The template that `name` names, with or without its version; nullptr: there is none.
  const ConfigTemplate* template_of(std::string_view name) const;
  /// The first by name whose target it is; nullptr: there is none.
  const ConfigTemplate* template_for(const Target& target) const;
};

/// A key of a ConfigMap that is mounted as a folder, and its text: YAML or JSON.
struct CatalogueFile {
  std::string name{}, text{};
};

struct CatalogueRead {
  Catalogue catalogue{};          // of what has no errors
  validate::Findings findings{};  // paths: "customizationTargets:12: targets["meta/llama@2.0"].model_path"
};

/// Every fault at once; an entry with one is left out, the others are there. `models` is the folder of modelConfig,
/// `training` that of trainingConfig.configMap. Which part a text holds is said by its file's name, or by the member
/// of that name at its top.
CatalogueRead read_catalogue(const std::vector<CatalogueFile>& models, const std::vector<CatalogueFile>& training);

}  // namespace stackgate::customizer
