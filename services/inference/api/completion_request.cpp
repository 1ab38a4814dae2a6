#include "services/inference/api/completion_request.hpp"

#include <fmt/format.h>

namespace stackgate::inference {

std::expected<CompletionRequest, validate::Findings> read_completion(const json::Value& body, const ApiLimits& limits) {
  validate::Findings findings;
  Fields fields(body, findings);
  if (!findings.empty()) return std::unexpected(std::move(findings));
  CompletionRequest out;
  out.prompts = read_prompts(fields, "prompt", limits);
  out.generation = read_generation(fields, limits);
  Generation& generation = out.generation;
  out.echo = fields.flag("echo");
  generation.log_probs = fields.whole("logprobs", 0, most_log_probs);
  const auto given = fields.whole("max_tokens", 0, limits.context);
  generation.max_tokens = given;
  if (given && *given == 0 && !out.echo)
    fields.wrong("max_tokens", "asks for no tokens", "write at least 1, or \"echo\": true");
  if (given && generation.text.min_tokens > *given)
    fields.wrong("min_tokens", fmt::format("is more than \"max_tokens\", {}", *given), "write at most as much");
  if (out.prompts.size() * generation.best_of > most_sequences)
    fields.wrong("prompt", fmt::format("has {} prompts of {} sequences each", out.prompts.size(), generation.best_of),
                 fmt::format("ask for at most {} sequences at once", most_sequences));
  if (!findings.empty()) return std::unexpected(std::move(findings));
  return out;
}

}  // namespace stackgate::inference
