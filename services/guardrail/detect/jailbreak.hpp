// Heuristics for prompts that are made to get around a model's rules (`rails.config.jailbreak_detection`), as NeMo
// Guardrails has them, over the model of perplexity.hpp instead of GPT-2 large. Thresholds for that model (89.79 and
// 1845.65) mean nothing here. Pure.
#pragma once
#include <cstdint>
#include <optional>
#include <string_view>

namespace stackgate::guardrail {

/// The defaults were calibrated on the texts of tests/guardrail/detect; README.md tells the rates.
struct JailbreakThresholds {
  double length_per_perplexity = 330;    // characters of prose: nine times as many
  double prefix_suffix_perplexity = 24;  // of the first or last 20 words
};

struct JailbreakScores {
  double length_per_perplexity = 0;
  // Nothing for a text of fewer than 20 words, or where too little of them can be judged.
  std::optional<double> prefix_perplexity{}, suffix_perplexity{};
};
JailbreakScores jailbreak_scores(std::string_view text);

enum class JailbreakSign : std::uint8_t { length_per_perplexity, prefix_perplexity, suffix_perplexity };
std::string_view to_string(JailbreakSign sign);

/// The first that reaches its threshold.
std::optional<JailbreakSign> jailbreak_sign(const JailbreakScores& scores, const JailbreakThresholds& thresholds = {});

}  // namespace stackgate::guardrail
