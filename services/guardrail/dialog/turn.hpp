// One turn of a conversation as a state machine: the user's message in, actions to execute out, their results in, the
// answer out. Pure: no I/O, no clock, no randomness but the seed. Source: the execution model of services.md
// section 5.3.
//
//   Turn turn(input);
//   auto actions = turn.begin(now);
//   while (!turn.done()) actions = turn.finished(result_of(actions…), now);
//
// A Turn belongs to one thread at a time; many run side by side.
#pragma once
#include <chrono>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "services/guardrail/configuration/configuration.hpp"
#include "services/guardrail/dialog/variables.hpp"
#include "services/kit/jinja/value.hpp"

namespace stackgate::guardrail {

/// Since any beginning of the caller's; only differences count.
using Moment = std::chrono::nanoseconds;

enum class RailType : std::uint8_t { input, dialog, generation, retrieval, output };
inline std::string_view to_string(RailType type) {
  constexpr std::string_view names[] = {"input", "dialog", "generation", "retrieval", "output"};
  return names[static_cast<std::size_t>(type)];
}

/// options.rails: which run. A list names rails as the configuration writes them.
struct RailChoice {
  bool on = true;
  std::optional<std::vector<std::string>> only{};
};
struct RailSelection {
  RailChoice input{}, output{}, retrieval{}, dialog{}, tool_calls{}, tool_results{};
};

/// Where a flow of an earlier turn waits, by names and positions, so that a configuration that has changed in between
/// cannot send it astray: what no longer fits is forgotten.
struct WaitingFlow {
  std::string flow;
  std::uint32_t at = 0;                // index of the `wait` in its code
  std::vector<WaitingFlow> callers{};  // of a subflow: who goes on behind it, the outermost first
};

/// What one turn leaves for the next one of its thread (`state` of the API).
struct DialogState {
  std::vector<WaitingFlow> waiting{};
  /// What the model planned behind a step of the user's, which comes first: "user x", "bot y"
  /// (enable_multi_step_generation).
  std::vector<std::string> planned{};
  Variables variables{};  // set by flows and actions
};

/// What a tool gave back, as the client says.
struct ToolResult {
  std::string text, name, call_id;
};

struct TurnInput {
  ConfigurationPtr configuration;
  std::vector<Message> history{};  // before this turn's message, oldest first; system messages included
  std::string user_message{};
  std::optional<std::string> bot_message{};  // given: it is checked instead of one being generated
  std::string tool_calls{};                  // of the given one: "name(arguments)", a line each
  std::optional<ToolResult> tool_result{};   // checked instead of a message; `tool_calls`: its own; nothing is answered
  Variables context{};                       // the client's
  RailSelection rails{};
  DialogState state{};
  std::uint64_t seed = 0;            // which of several texts a bot message takes
  std::uint32_t max_steps = 10'000;  // instructions; beyond: the turn fails
  std::uint32_t max_actions = 200;
};

/// To be executed by whoever drives the turn; several at once may be under way.
struct ActionRequest {
  std::uint64_t id = 0;
  std::string action;         // "self_check_input", "generate", or the user's own
  Variables parameters{};     // as the flow gave them, `model` of the rail's `$model=…` included
  SharedVariables context{};  // what the action may read: user_message, bot_message, relevant_chunks, …
  RailType rail = RailType::input;
  std::string rail_name{};
  jinja::Value events{};  // of the conversation, for code of the user's; whoever runs it adds them
};

// Actions that the machine itself asks for, besides those of flows:
//   generate                 the plain answer of the main model          → text
//   generate_user_intent     which intent the user's message has         → text (name)
//   generate_next_step       what comes when no flow says it             → text (bot intent), or with
//                            enable_multi_step_generation a list of "bot x" and "user y"
//   generate_intent_steps_message  with single_call: intent, next step and message at once
//                            → dict of user_intent, bot_intent, bot_message; "": the model did not say it
//   generate_bot_message     the text of bot intent `intent`             → text
//   generate_value           the value of `$name = ...` (`instructions`) → value
//   retrieve_relevant_chunks chunks of the knowledge base                → text

/// One call of a model while an action ran, for options.log.
struct ModelCall {
  std::string task, model, prompt, completion;
  Moment began{}, ended{};
  std::uint32_t prompt_tokens = 0, completion_tokens = 0;
  bool from_cache = false;
};

/// An event that was created, or that a rail's exception is made of.
struct Event {
  std::string type;  // "InputRailException"
  Variables values{};
};

struct ActionResult {
  std::uint64_t id = 0;
  bool failed = false;  // fails closed: a rail blocks, a dialog turn ends with `error`
  std::string error{};  // for logs; never the client's
  jinja::Value value{};
  Variables context_updates{};
  std::vector<Event> events{};  // as `create event` makes them
  std::vector<ModelCall> model_calls{};
};

struct ExecutedAction {
  std::string name;
  Variables parameters{};
  jinja::Value value{};
  bool failed = false;
  std::string error{};
  std::vector<ModelCall> model_calls{};
  Moment began{}, ended{};
};

struct ActivatedRail {
  RailType type = RailType::input;
  std::string name;
  std::vector<std::string> decisions{};  // "execute self_check_input", "bot refuse to respond", "stop"
  std::vector<ExecutedAction> actions{};
  bool stop = false;
  Moment began{}, ended{};
};

enum class Outcome : std::uint8_t {
  passed,
  modified,  // a rail altered the user's or the bot's message
  blocked,   // a rail said stop, or failed
  failed,    // the turn itself could not be done: too many steps, a faulty expression, no model's answer
};

struct TurnResult {
  Outcome outcome = Outcome::passed;
  std::string rail{};                // that blocked or failed
  std::string text{};                // what the assistant says; several messages are joined by line ends
  std::optional<Event> exception{};  // instead, with enable_rails_exceptions
  std::string user_message{};        // as the input rails left it; a tool's result as the rails for it left it
  std::string error{};               // of `failed`, for the log
  std::vector<ActivatedRail> rails{};
  std::vector<Event> events{};  // all of the turn in order, for options.log.internal_events
  std::string colang_history{};
  SharedVariables variables{};  // for output_vars
  DialogState state{};          // for the next turn
  /// What rails kept from the user, and no log may show: what output rails refused or altered of the main model's
  /// answer, and chunks as they were before retrieval rails altered them.
  std::vector<std::string> hidden{};
  bool hides_answer = false;  // the main model's answer is among them
  /// Variables that flows made of these, whatever part of them they hold.
  std::vector<std::string> concealed{};
  /// What no state may keep besides: the user's text as it was before input rails altered or refused it, and variables
  /// made of it.
  std::vector<std::string> unkept_texts{}, unkept{};
};

class Turn {
 public:
  explicit Turn(TurnInput input);
  ~Turn();
  Turn(Turn&&) noexcept;
  Turn& operator=(Turn&&) noexcept;

  /// What is to be executed next; empty when the turn is done or others are still under way.
  std::vector<ActionRequest> begin(Moment now);
  std::vector<ActionRequest> finished(ActionResult result, Moment now);

  bool done() const;
  /// Once done.
  const TurnResult& result() const;
  /// Moves it out.
  TurnResult take_result();

 private:
  struct Impl;
  std::unique_ptr<Impl> impl_;
};

}  // namespace stackgate::guardrail
