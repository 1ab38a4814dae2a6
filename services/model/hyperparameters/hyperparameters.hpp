// What a training run is asked to do: the file of the trainer's --config, whose members are those of a customization's
// hyperparameters: one set of rules for both. Pure. Sources: PEFT's LoraConfig, transformers' TrainingArguments.
#pragma once
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "services/kit/findings/finding.hpp"
#include "services/kit/findings/json_report.hpp"
#include "services/kit/json/write.hpp"
#include "services/model/modules.hpp"

namespace stackgate::model {

enum class Scheduler : std::uint8_t { linear, cosine, constant };

struct Hyperparameters {
  std::uint32_t lora_rank = 8;
  double lora_alpha = 16, lora_dropout = 0;
  bool use_rslora = false;
  std::vector<Module> target_modules = all_modules();  // in the order of Module

  double learning_rate = 1e-4;
  Scheduler lr_scheduler = Scheduler::cosine;
  double warmup_ratio = 0.03, weight_decay = 0.01;
  double adam_beta1 = 0.9, adam_beta2 = 0.999, adam_epsilon = 1e-8;
  double max_grad_norm = 1;  // 0: no clipping

  std::optional<std::uint32_t> num_epochs{}, max_steps{};  // neither: one epoch; both: whichever ends first
  std::uint32_t batch_size = 8;                            // examples of an optimizer step
  std::optional<std::uint32_t> micro_batch_size{};         // examples of a forward pass; absent: by tokens
  std::optional<std::uint32_t> max_seq_length{};           // tokens; absent: 1,024, or the model's context
  std::uint64_t seed = 42;
  bool sequence_packing_enabled = false, gradient_checkpointing = false;
  std::optional<std::uint32_t> threads{};

  double validation_split = 0;  // share of the examples that is kept back for the validation loss; 0: none
  std::optional<std::uint32_t> val_check_interval{};  // steps; absent: at the end of each epoch
  std::uint32_t early_stopping_patience = 0;          // validations without a better loss; 0: never
  std::uint32_t checkpoint_interval = 100;            // steps
  std::uint32_t log_every_n_steps = 1;

  static std::vector<Module> all_modules();
};

struct HyperparametersRead {
  Hyperparameters parameters;   // to be used only when there are no errors
  validate::Findings findings;  // paths: "FILE: lora_rank"
};

inline constexpr std::size_t largest_configuration = 1U << 20U;  // bytes

/// All that is wrong with it at once; unknown members are errors that name the nearest known one. `file` is what the
/// findings call it.
HyperparametersRead read_hyperparameters(std::string_view json, std::string_view file);

/// The same for a part of a file or body, an object: `out` holds the defaults before. Findings go to `report`.
void read_hyperparameters(const validate::JsonPlace& at, validate::JsonReport& report, Hyperparameters& out);

/// Every member, absent ones left out: what is written reads as the same again.
void write_hyperparameters(json::Writer& out, const Hyperparameters& parameters);

/// The bounds of those that are numbers.
struct HyperparameterRange {
  std::string_view name;
  double least = 0, most = 0;
  bool whole = false;
};
const std::vector<HyperparameterRange>& hyperparameter_ranges();
/// The value of one of these; nothing where it is absent, or there is no such number.
std::optional<double> number_named(const Hyperparameters& parameters, std::string_view name);

/// alpha / rank, or alpha / √rank: what B·A is multiplied with.
double lora_scale(const Hyperparameters& parameters);

/// Name and value of every member, absent ones left out: what experiment trackers record.
std::vector<std::pair<std::string, std::string>> named_values(const Hyperparameters& parameters);

/// Every member that changes the result, in one text: equal for equal runs.
std::string canonical_text(const Hyperparameters& parameters);

/// Last part of a module's name: "q_proj".
std::string_view short_name(Module module);

}  // namespace stackgate::model
