// Why a sequence ended, in the words of OpenAI's API.
#pragma once
#include <cstdint>
#include <string>
#include <string_view>
#include <variant>

#include "services/inference/sampling/parameters.hpp"

namespace stackgate::inference {

enum class FinishReason : std::uint8_t { stop, length, tool_calls, content_filter };

constexpr std::string_view to_string(FinishReason reason) {
  switch (reason) {
    case FinishReason::stop:
      return "stop";
    case FinishReason::length:
      return "length";
    case FinishReason::tool_calls:
      return "tool_calls";
    case FinishReason::content_filter:
      return "content_filter";
  }
  return "stop";
}

/// vLLM's `stop_reason`: the stop text or the stop token that it was; nothing for an end token or a limit.
using StopCause = std::variant<std::monostate, std::string, TokenId>;

struct Finish {
  FinishReason reason = FinishReason::stop;
  StopCause cause = {};
  bool operator==(const Finish&) const = default;
};

}  // namespace stackgate::inference
