// Whether a prompt and its answer fit the model's context. Pure.
#pragma once
#include <cstdint>
#include <expected>
#include <optional>
#include <string_view>

#include "services/kit/findings/finding.hpp"

namespace stackgate::inference {

struct ContextUse {
  std::uint64_t prompt_tokens = 0;
  std::optional<std::uint32_t> max_tokens = {};  // as the request gives it
  std::uint32_t otherwise = 0;                   // when it gives none; 0: what is left
  std::uint32_t context = 0;
  std::string_view prompt_key = "prompt", max_tokens_key = "max_tokens";
};

/// How many tokens the answer may have; or what is wrong, with both numbers.
std::expected<std::uint32_t, validate::Findings> fit_context(const ContextUse& use);

}  // namespace stackgate::inference
