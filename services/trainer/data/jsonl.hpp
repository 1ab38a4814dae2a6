// A line of a training file: {"prompt", "completion"} or {"messages", "tools"?}; other members are left alone. Pure.
#pragma once
#include <cstdint>
#include <expected>
#include <string>
#include <string_view>

#include "services/kit/json/parse.hpp"

namespace stackgate::trainer {

enum class LineKind : std::uint8_t { completion, chat };
std::string_view to_string(LineKind kind);

struct Line {
  LineKind kind = LineKind::completion;
  std::string_view prompt, completion;  // of LineKind::completion
  json::Value messages, tools;          // of LineKind::chat; tools may be null
};

inline constexpr std::size_t longest_line = 8U << 20U;  // bytes

/// Views into `text` and `document`. The error says what is wrong, as the end of "FILE:LINE: …".
std::expected<Line, std::string> read_line(std::string_view text, json::Document& document);

}  // namespace stackgate::trainer
