// A streamed answer, event by event. Pure; not thread-safe.
#pragma once
#include <cstdint>
#include <expected>
#include <map>
#include <optional>
#include <string>
#include <string_view>

#include "services/guardrail/models/protocol/answer.hpp"

namespace stackgate::json {
class Value;
}

namespace stackgate::guardrail {

/// What one event adds.
struct ModelDelta {
  std::string text{};   // of the first choice
  std::string event{};  // the event's JSON as it came
};

/// Puts the events of one answer together. Limits: the text, the number and size of tool calls.
class ChunkReader {
 public:
  explicit ChunkReader(bool completion) : completion_(completion) {}

  enum class Kind : std::uint8_t { delta, end, failed };
  /// `data` of an event. `end` of "[DONE]"; `failed`: see fault(), or error_body() where the endpoint said so.
  Kind take(std::string_view data, ModelDelta& delta);
  /// The endpoint ended the stream: whether that is the end of an answer, which then had its finish_reason.
  bool is_whole() const { return done_ || !answer_.finish_reason.empty(); }
  const std::string& fault() const { return fault_; }
  const std::string& error_body() const { return error_body_; }
  /// The whole, message included.
  ModelAnswer finish();

 private:
  struct ToolCall {
    std::string id, name, arguments;
  };
  Kind refuse(std::string why);
  bool add_tool_calls(const json::Value* delta);

  const bool completion_;
  bool done_ = false;
  ModelAnswer answer_{};
  std::map<std::int64_t, ToolCall> tools_{};
  std::size_t tool_bytes_ = 0;
  std::string fault_{}, error_body_{};
};

}  // namespace stackgate::guardrail
