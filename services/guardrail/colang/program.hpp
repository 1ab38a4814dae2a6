// Colang 1.0, compiled: what a configuration's *.co files define, with every name resolved, as flat lists of
// instructions. Source: the Colang 1.0 language guide of NeMo Guardrails.
//
// Immutable once compiled; read by any number of threads.
#pragma once
#include <cstdint>
#include <expected>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "services/kit/jinja/template.hpp"

namespace stackgate::guardrail::colang {

/// Where something stands: 1-based line and column (characters) of file `files[file]` of the Program.
struct Place {
  std::uint32_t file = 0;
  std::uint32_t line = 0;
  std::uint32_t column = 0;
};

/// A Python-like expression; `$name` is the variable `name`. evaluate() computes it.
struct Expression {
  std::string source;  // as written
  jinja::Expression compiled;
  Place place;
  std::vector<std::string> reads{};  // the variables, each once
  // What need not be computed: most arguments of actions.
  std::optional<jinja::Value> constant{};  // its value, whatever the variables are
  bool is_variable = false;                // the one that it reads, and nothing else
};

/// The value of an expression. A variable that the context, a dict, does not have is None.
std::expected<jinja::Value, jinja::Fault> evaluate(const Expression& expression, const jinja::Value& context,
                                                   const jinja::Limits& limits = {});

/// Of a call or an event: `name=expression`, or by position (no name).
struct Argument {
  std::string name;
  Expression value;
};

/// `define user NAME` with what users say.
struct UserIntent {
  std::string name;
  std::vector<std::string> examples;
  Place place;
};

/// `define bot NAME`: one of the texts is said. Each is a Jinja template in which `$name` was written as `{{ name }}`.
struct BotMessage {
  std::string name;
  std::vector<jinja::Template> texts;
  std::vector<std::string> sources;  // as written, for prompts
  Place place;
};

enum class EventKind : std::uint8_t {
  user_intent,      // `user NAME`
  any_user_intent,  // `user ...`
  bot_intent,       // `when bot NAME`
  any_bot_intent,   // `when bot ...`
  named,            // `event NAME(…)`
};

/// What a flow waits for.
struct EventPattern {
  EventKind kind = EventKind::user_intent;
  std::string name;  // of the intent or event
  std::vector<Argument>
      arguments;  // that the event must have, of named events; what may be anything ("...") is left out
};

enum class Op : std::uint8_t {
  wait,      // for `pattern`; a flow that begins with it starts when it comes. `bot NAME` at the beginning of an
             // extension flow or of a flow without a name waits as well, and so does `bot ...` at any flow's
  wait_any,  // `when … else when …`: goes on at the target of the branch whose pattern comes
  bot,       // says `name`, a defined bot message or one that the model writes; with `text`, that (`said`); of
             // `bot $answer` and `bot "text"` the name is empty
  bot_any,   // `bot ...`: the model finds and writes what is said
  execute,   // action `name` with `arguments`; its value goes into `variable`, if there is one
  assign,    // `variable` = `expression`
  generate,  // `$variable = ...`: the model finds the value; `text` is the comment above it, its instruction
  call,      // `do NAME`: flow `name`, which is Program::flows[target]; or, when `name` is empty, the one whose name
             // `expression` gives (`do $list[$i]`: "content safety check input $model=judge" among them)
  branch,    // goes on with the next one when `expression` is true, else at `target`
  jump,      // goes on at `target`
  create_event,  // `create event NAME(…)`
  stop,          // ends this flow and all that wait for it: the turn says what was said so far
  end,           // of the flow; the last of each
};

struct WaitBranch {
  EventPattern pattern;
  std::uint32_t target = 0;
};

struct Instruction {
  Op op = Op::end;
  Place place;
  std::string name{};
  std::string variable{};
  std::string text{};  // of `bot NAME "text"`: a template like those of BotMessage
  std::vector<Argument> arguments{};
  std::optional<Expression> expression{};
  std::optional<jinja::Template> said{};  // `text`, compiled
  std::string said_variable{};            // of `bot $NAME`
  EventPattern pattern{};
  std::vector<WaitBranch> branches{};
  std::uint32_t target = 0;  // index into Flow::code; of call: index into Program::flows
};

enum class FlowKind : std::uint8_t {
  flow,       // `define flow`: starts when its first event comes
  subflow,    // `define subflow`: when it is called; rails are subflows or flows
  extension,  // `define extension flow`: may interrupt others
};

struct Flow {
  std::string name;  // of one without a name: "flow at rails.co:12"
  FlowKind kind = FlowKind::flow;
  bool parallel = false;  // `define parallel flow`: does not end others that wait
  double priority = 1.0;  // `priority 0.9`: among those that can go on
  bool allow_multiple = false;
  std::string description{};  // the docstring
  std::vector<Instruction> code;
  Place place;
};

struct Program {
  std::vector<std::string> files;        // names, in the order given
  std::vector<UserIntent> user_intents;  // in the order defined; names unique
  std::vector<BotMessage> bot_messages;
  std::vector<Flow> flows;
  std::map<std::string, std::uint32_t, std::less<>> flow_by_name{};
  std::map<std::string, std::uint32_t, std::less<>> user_intent_by_name{};
  std::map<std::string, std::uint32_t, std::less<>> bot_message_by_name{};

  /// nullptr: there is none.
  const Flow* find_flow(std::string_view name) const;
  const UserIntent* find_user_intent(std::string_view name) const;
  const BotMessage* find_bot_message(std::string_view name) const;
};

/// A subflow's `return value` goes into this variable; `$x = do NAME` reads it.
inline constexpr std::string_view returned_variable = "_returned";

/// Functions that expressions may call besides the methods of texts and lists: Python's len, str, int, float, bool,
/// abs, min, max, sum, round, sorted, list, any, all, range and dict.
const jinja::Environment& expression_environment();

}  // namespace stackgate::guardrail::colang
