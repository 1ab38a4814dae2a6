#include "services/inference/api/context.hpp"

#include <algorithm>

#include <fmt/format.h>

namespace stackgate::inference {
namespace {

std::unexpected<validate::Findings> fault(std::string_view key, std::string problem, std::string fix) {
  return std::unexpected(validate::Findings{{.rule = "context-length",
                                             .path = std::string(key),
                                             .value = {},
                                             .problem = std::move(problem),
                                             .fix = std::move(fix)}});
}

}  // namespace

std::expected<std::uint32_t, validate::Findings> fit_context(const ContextUse& use) {
  const std::uint64_t wanted = use.max_tokens.value_or(1);
  if (use.prompt_tokens == 0) return fault(use.prompt_key, "has no tokens", "write at least one");
  if (use.prompt_tokens + std::min<std::uint64_t>(wanted, 1) > use.context)
    return fault(use.prompt_key,
                 fmt::format("has {} tokens: this model's context is {} tokens, prompt and answer together",
                             use.prompt_tokens, use.context),
                 "send a shorter prompt");
  const auto left = static_cast<std::uint32_t>(use.context - use.prompt_tokens);
  if (wanted > left)
    return fault(use.max_tokens_key,
                 fmt::format("asks for {} tokens, and the prompt has {}: this model's context is {} tokens", wanted,
                             use.prompt_tokens, use.context),
                 fmt::format("ask for at most {}, or send a shorter prompt", left));
  if (use.max_tokens) return *use.max_tokens;
  return use.otherwise == 0 ? left : std::min(left, use.otherwise);
}

}  // namespace stackgate::inference
