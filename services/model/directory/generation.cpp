#include "services/model/directory/generation.hpp"

#include <algorithm>

#include "services/model/directory/token_ids.hpp"

namespace stackgate::model {
namespace {

using validate::JsonPlace;
using validate::JsonReport;

constexpr double smallest = 1e-6, most_penalty = 100;
constexpr std::uint32_t most_tokens = 1U << 24U;

/// -1 and 0 mean all, as in vLLM.
std::optional<std::uint32_t> top_k(JsonReport& report, const JsonPlace& of) {
  const json::Value* found = JsonReport::present(of, "top_k");
  if (found == nullptr) return std::nullopt;
  if (found->is_integer() && found->integer() == -1) return 0;
  return report.needed_number(of, "top_k", 0, most_tokens);
}

}  // namespace

GenerationRead read_generation(std::string_view json) {
  GenerationRead read;
  JsonReport report(read.findings, "generation_config.json",
                    {"generation-type", "generation-missing", "generation-not-served"});
  json::Document document;
  const auto root =
      report.parse("generation-json", json, document, {.max_depth = 64, .max_bytes = largest_generation_config});
  if (!root) return read;
  const JsonPlace top{{}, *root};
  Generation& out = read.generation;
  out.temperature = report.real(top, "temperature", 0, 2);
  out.top_p = report.real(top, "top_p", smallest, 1);
  out.min_p = report.real(top, "min_p", 0, 1);
  out.repetition_penalty = report.real(top, "repetition_penalty", smallest, most_penalty);
  out.top_k = top_k(report, top);
  if (JsonReport::present(top, "max_new_tokens") != nullptr)
    out.max_new_tokens = report.needed_number(top, "max_new_tokens", 1, most_tokens);
  out.end_ids = read_token_ids(report, top, "eos_token_id");
  return read;
}

}  // namespace stackgate::model
