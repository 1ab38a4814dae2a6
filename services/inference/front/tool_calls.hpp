// Calls of tools in what a model writes: as Hermes and Qwen (<tool_call>{…}</tool_call>), as Llama and Mistral (the
// JSON alone, an object or a list), or as a grammar forced it. Pure.
#pragma once
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "services/inference/api/chat_request.hpp"

namespace stackgate::inference {

struct FoundCall {
  std::string name;
  std::string arguments;  // JSON
};

/// All of `text` as calls of these tools; nothing when any part of it is something else.
std::optional<std::vector<FoundCall>> read_tool_calls(std::string_view text, std::span<const Tool> tools);

/// What Hermes and Qwen write before a call.
inline constexpr std::string_view tool_call_mark = "<tool_call>";

/// The schema of one forced call: {"name", "arguments"} of this tool, or of any of them.
std::string forced_call_schema(const ToolChoice& choice, std::span<const Tool> tools);

/// Text as it comes, parted into what is said and what may be calls, which is kept back until the end. One for each
/// choice of an answer.
class ToolCallFinder {
 public:
  /// `tools` must outlive it. With ToolChoice::Kind::none everything is said.
  ToolCallFinder(const ToolChoice& choice, std::span<const Tool> tools);

  /// Returns what can be sent now.
  std::string push(std::string_view text);
  struct End {
    std::string text;  // what was kept back and is no call
    std::vector<FoundCall> calls;
  };
  End finish();

 private:
  enum class Place : std::uint8_t { begin, text, calls };
  Place place_ = Place::begin;
  std::span<const Tool> tools_;
  std::string held_;
};

}  // namespace stackgate::inference
