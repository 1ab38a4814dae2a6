// The rails that are there without a user's file: written in Colang, and what each of them needs to work. Pure.
// Source of the flows' names, messages and events: the guardrail library of NeMo Guardrails; README.md says which are
// the service's own.
#pragma once
#include <cstdint>
#include <span>
#include <string_view>
#include <vector>

#include "services/guardrail/colang/compile.hpp"

namespace stackgate::guardrail {

/// In which list of `rails` it makes sense.
enum class RailPlace : std::uint8_t { input, output, retrieval, tool_call };

struct BuiltInRail {
  std::string_view flow;            // "self check input"
  RailPlace place;                  //
  std::string_view action;          // that it executes
  std::string_view task;            // the prompt that the action renders; empty: none
  bool own_prompt = false;          // the user must write it, as the anchor wants it; the others have defaults
  bool asks = false;                // its action waits for a model or a server, and alters no message
  std::string_view whole_answer{};  // why it cannot judge a piece of a stream; empty: it can
  bool needs_model = false;         // `$model=NAME`: the type of a model of the configuration
  std::string_view config{};        // the settings below rails.config: "regex_detection.input"
  std::string_view enabled_by{};    // the variable without which it does nothing: "check_facts"
  std::string_view exception{};     // the event's type with enable_rails_exceptions; empty: it does not block
  bool alters = false;              // the message
};
std::span<const BuiltInRail> built_in_rails();
/// nullptr: the library has no such rail.
const BuiltInRail* find_built_in_rail(std::string_view flow);
/// "input" of rails.input and so on: where it belongs; of tool calls the list that the model's calls pass.
std::string_view list_of(RailPlace place);

/// The first rail that executes it; nullptr: none does.
const BuiltInRail* find_built_in_action(std::string_view name);
/// Those that flows may execute without a file of the user's.
const std::vector<std::string_view>& built_in_actions();
bool is_built_in_action(std::string_view name);

/// The library's files, to stand before a configuration's own. They live as long as the program.
std::span<const colang::Source> library_sources();

}  // namespace stackgate::guardrail
