// A line of a training file: {"prompt", "completion"} or {"messages", "tools"?}; other members are left alone. Pure.
#pragma once
#include <cstdint>
#include <expected>
#include <string>
#include <string_view>

#include "services/kit/json/parse.hpp"

namespace stackgate::model {

enum class TrainingLineKind : std::uint8_t { completion, chat };
std::string_view to_string(TrainingLineKind kind);

struct TrainingLine {
  TrainingLineKind kind = TrainingLineKind::completion;
  std::string_view prompt, completion;  // of TrainingLineKind::completion
  json::Value messages, tools;          // of TrainingLineKind::chat; tools may be null
};

inline constexpr std::size_t longest_training_line = 8U << 20U;  // bytes

/// Views into `text` and `document`. The error says what is wrong, as the end of "FILE:LINE: …".
std::expected<TrainingLine, std::string> read_training_line(std::string_view text, json::Document& document);

}  // namespace stackgate::model
