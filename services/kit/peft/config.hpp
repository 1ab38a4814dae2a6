// adapter_config.json as PEFT writes it, and what a server that loads the adapter will refuse in it. Pure.
// https://huggingface.co/docs/peft/package_reference/lora
#pragma once
#include <cstdint>
#include <string>
#include <string_view>

#include "services/kit/peft/finding.hpp"
#include "services/kit/peft/modules.hpp"

namespace stackgate::peft {

struct ServingLimits {
  std::int64_t max_rank = 256;
};

struct Config {
  std::int64_t rank = 0;
  double alpha = 0, dropout = 0;
  bool has_alpha = false, has_targets = false;
  Targets targets = Targets::all_linear();
  std::string target_text;  // an expression, as it was written
  RankPattern rank_pattern;
  bool rslora = false;
  std::string base_model, revision;
  /// The file says something that could not be read: nothing can be compared with it.
  bool dropout_unread = false, base_model_unread = false;
};

struct ConfigRead {
  Config config;
  validate::Findings findings;  // paths: "adapter[adapter_config.json].r"
};

ConfigRead read_config(std::string_view text, const ServingLimits& limits = {});

/// adapter_config.json as PEFT saves it: its names, sorted, two blanks deep. Of `config` it takes rank, alpha, dropout,
/// rslora, base_model, revision and the targets (names, else target_text); one rank for all modules.
std::string write_config(const Config& config);

}  // namespace stackgate::peft
