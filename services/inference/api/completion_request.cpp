#include "services/inference/api/completion_request.hpp"

#include <array>

#include <fmt/format.h>

namespace stackgate::inference {
namespace {

struct OfChats {
  std::string_view key, fix;
};
constexpr std::array<OfChats, 5> of_chats{{
    {"messages", "use /v1/chat/completions"},
    {"tools", "use /v1/chat/completions"},
    {"tool_choice", "use /v1/chat/completions"},
    {"top_logprobs", "write the number as \"logprobs\""},
    {"max_completion_tokens", "use \"max_tokens\""},
}};

}  // namespace

std::expected<CompletionRequest, validate::Findings> read_completion(const json::Value& body, const ApiLimits& limits) {
  validate::Findings findings;
  Fields fields(body, findings);
  if (!findings.empty()) return std::unexpected(std::move(findings));
  CompletionRequest out;
  out.prompts = read_prompts(fields, "prompt", limits);
  out.generation = read_generation(fields, limits);
  Generation& generation = out.generation;
  out.echo = fields.flag("echo");
  generation.add_special_tokens = fields.flag("add_special_tokens", true);
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
  for (const OfChats& each : of_chats)
    if (fields.asks(each.key) && fields.find(each.key)->string() != "none")
      fields.not_served(fields.place(each.key), "is for chats", std::string(each.fix));
  if (!findings.empty()) return std::unexpected(std::move(findings));
  return out;
}

}  // namespace stackgate::inference
