// A flow being executed, instruction by instruction, until it needs something from outside. Pure.
#pragma once
#include <cstdint>
#include <functional>
#include <set>
#include <string>
#include <variant>
#include <vector>

#include "services/guardrail/dialog/turn.hpp"

namespace stackgate::guardrail {

using Names = std::set<std::string, std::less<>>;

struct Frame {
  const colang::Flow* flow = nullptr;
  std::uint32_t at = 0;
};

struct Fiber {
  std::vector<Frame> frames{};  // the innermost last; none: it has ended
  Variables own{};              // what it assigned; hides the turn's
  Variables given{};            // the rail's arguments; hide both
  Names raw{};                  // of its own those that hold what rails have yet to pass
};

/// It wants this action's value; then store().
struct Act {
  std::string action;
  Variables parameters{};
  std::string variable{};  // where the value goes; empty: nowhere
};
/// It says the defined message `name`, or `text`, or what a model finds for the intent `name`; "" and no text:
/// anything.
struct Say {
  std::string name;
  std::string text{};
  bool has_text = false;
  std::string variable{};  // the text is its value: what an action or a model made, not what was configured
};
struct Create {
  Event event;
};
/// It stands at a `wait` or `wait_any`.
struct Wait {};
struct Ended {};
struct Stopped {};
/// "rails.co:12: 'x' is undefined"
struct Broken {
  std::string error;
};
using Need = std::variant<Act, Say, Create, Wait, Ended, Stopped, Broken>;

/// What a fiber may read.
struct Scope {
  const colang::Program& program;
  const SharedVariables& turn;  // the turn's variables
  std::uint64_t seed = 0;       // which text of several is said
  std::uint32_t& steps_left;    // of the turn
  const Names& raw;             // the turn's variables that hold what rails have yet to pass
};

/// Whether a value may hold a text: verdicts and measures hold none.
bool holds_text(const jinja::Value& value);

/// All variables that the fiber sees, as a dict, and as variables.
jinja::Value visible(const Fiber& fiber, const Scope& scope);
SharedVariables snapshot(const Fiber& fiber, const SharedVariables& turn);

/// Executes up to and including the instruction that needs something; after Wait the fiber still stands there.
Need advance(Fiber& fiber, const Scope& scope);

/// Where a `do` or a rail's name leads: "content safety check input $model=x" is a flow and an argument.
struct FlowCall {
  std::string flow;
  Variables arguments{};
};
FlowCall parse_flow_call(std::string_view text);

/// The text of a defined message, one of several by `seed`; the error: its template's fault.
std::expected<std::string, std::string> text_of(const colang::BotMessage& message, const jinja::Value& variables,
                                                std::uint64_t seed);

}  // namespace stackgate::guardrail
