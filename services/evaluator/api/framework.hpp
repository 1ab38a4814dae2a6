// What evaluates: the specification's nine images, and task files of the user's own. Pure.
#pragma once
#include <array>
#include <cstdint>
#include <optional>
#include <string_view>

namespace stackgate::evaluator {

enum class Framework : std::uint8_t {
  custom,  // task files of the data set, run by this service
  lm_eval_harness,
  bigcode_eval_harness,
  similarity_metrics,
  llm_as_judge,
  mt_bench,
  retriever,
  rag,
  bfcl,
  agentic_eval,
};

inline constexpr std::array<std::string_view, 10> framework_names = {"custom",
                                                                     "lm-eval-harness",
                                                                     "bigcode-eval-harness",
                                                                     "similarity-metrics",
                                                                     "llm-as-judge",
                                                                     "mt-bench",
                                                                     "retriever",
                                                                     "rag",
                                                                     "bfcl",
                                                                     "agentic-eval"};

constexpr std::string_view to_string(Framework framework) {
  return framework_names.at(static_cast<std::size_t>(framework));
}
constexpr std::optional<Framework> framework_named(std::string_view name) {
  for (std::size_t i = 0; i < framework_names.size(); ++i)
    if (framework_names.at(i) == name) return static_cast<Framework>(i);
  return std::nullopt;
}

/// Whether there is an image of it for the workflow server: the specification's nine.
constexpr bool has_image(Framework framework) { return framework != Framework::custom; }

}  // namespace stackgate::evaluator
