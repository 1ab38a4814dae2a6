// Which flows an event starts or lets go on. Pure.
#pragma once
#include <array>
#include <cstddef>
#include <functional>
#include <string>
#include <string_view>
#include <vector>

#include "services/guardrail/dialog/fiber.hpp"

namespace stackgate::guardrail {

/// What flows wait for, as it happened.
struct Happening {
  colang::EventKind kind = colang::EventKind::user_intent;  // user_intent, bot_intent or named
  std::string name;
  Variables values{};
};

/// A flow that the event concerns, and where it goes on.
struct Continuation {
  const colang::Flow* flow = nullptr;
  std::uint32_t at = 0;
  std::vector<Frame> callers{};
  bool any = false;                         // it waits for any event of the kind
  std::size_t waiting = std::string::npos;  // index of the WaitingFlow that goes on; npos: the flow starts
};

/// Whether an event's argument has the value that a flow wants.
using ArgumentMatches = std::function<bool(const colang::Argument&, const Variables& values)>;

/// By precedence: priority, a named event before any, flows that wait before those that start, the order of
/// definition. Flows that were waited for by a configuration that has changed are passed over.
std::vector<Continuation> continuations(const colang::Program& program, const std::vector<WaitingFlow>& waiting,
                                        const Happening& event, const ArgumentMatches& matches);

/// Whether any flow begins with an event: what a user says is then looked at before it is answered.
bool starts_with_events(const colang::Program& program);
/// Whether some flow wants to know which intent it is.
bool names_intents(const colang::Program& program);

/// What a rail does beside judging, as its flow and those it calls say.
struct RailReach {
  bool asks = false;         // it waits for a model or a server, by an action that is built in
  bool alters = false;       // it sets a message, or calls a flow that only a variable names
  bool runs_custom = false;  // an action of the user's, which may alter what it likes
};
RailReach reach_of(const colang::Program& program, const colang::Flow& rail);

/// What rails may alter.
inline constexpr std::array<std::string_view, 4> messages_of_turns = {"user_message", "bot_message", "relevant_chunks",
                                                                      "tool_message"};

}  // namespace stackgate::guardrail
