// The eight kinds and their names: the one table every other part reads.
#pragma once
#include <array>
#include <cstdint>
#include <optional>
#include <string_view>

namespace stackgate::crds {

inline constexpr std::string_view api_group = "stackgate.dev";
inline constexpr std::string_view api_version = "v1alpha1";
inline constexpr std::string_view api_group_version = "stackgate.dev/v1alpha1";

enum class Kind : std::uint8_t {
  inference_service,
  inference_cache,
  inference_pipeline,
  stack_datastore,
  stack_entitystore,
  stack_customizer,
  stack_evaluator,
  stack_guardrail,
};

struct KindInfo {
  Kind kind;
  std::string_view name;        // InferenceService
  std::string_view plural;      // inferenceservices
  std::string_view short_name;  // isvc
};

inline constexpr std::array<KindInfo, 8> kinds{{
    {Kind::inference_service, "InferenceService", "inferenceservices", "isvc"},
    {Kind::inference_cache, "InferenceCache", "inferencecaches", "icache"},
    {Kind::inference_pipeline, "InferencePipeline", "inferencepipelines", "ipipe"},
    {Kind::stack_datastore, "StackDatastore", "stackdatastores", "sds"},
    {Kind::stack_entitystore, "StackEntitystore", "stackentitystores", "ses"},
    {Kind::stack_customizer, "StackCustomizer", "stackcustomizers", "scz"},
    {Kind::stack_evaluator, "StackEvaluator", "stackevaluators", "sev"},
    {Kind::stack_guardrail, "StackGuardrail", "stackguardrails", "sgr"},
}};

constexpr const KindInfo& info(Kind kind) { return kinds[static_cast<std::size_t>(kind)]; }

/// By the name as it stands in `kind:`; exact, case counts.
constexpr std::optional<Kind> kind_named(std::string_view name) {
  for (const KindInfo& each : kinds)
    if (each.name == name) return each.kind;
  return std::nullopt;
}

}  // namespace stackgate::crds
