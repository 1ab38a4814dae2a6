// What happens to something that takes long, as it comes: its log as text, its events as server-sent events.
#pragma once
#include <chrono>
#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "services/kit/web/answer.hpp"
#include "services/kit/web/call.hpp"

namespace stackgate::web {

struct NumberedEvent {
  std::int64_t number = 0;  // greater than those before it
  std::string text{};       // what is sent of it: a line with its end, or the event's data
};

/// Where they come from. Both block for the database; nothing: it is away, which ends the answer.
struct EventSource {
  std::function<std::optional<std::vector<NumberedEvent>>(std::int64_t after)> next{};  // in order; empty: none yet
  std::function<std::optional<bool>()> ended{};  // no more will come but what next() gives once more
  std::chrono::milliseconds pause{500};          // between two looks
};

// For pool threads of routes with a long answer (RouteOptions::transfer). They end with the source, when the client is
// gone, and soon when the server drains.

/// 200, text/plain, from the beginning; `follows`: also what comes later.
Answer send_log(Call& call, const EventSource& source, bool follows);
/// 200, text/event-stream: "event: <name>", "id: <number>". Begins behind Last-Event-ID, or else behind `after`.
Answer send_events(Call& call, const EventSource& source, std::string_view name, std::int64_t after);

/// Whether the client asks for server-sent events.
bool wants_events(const http::Request& request);
/// Of a number in a query or header: 0 for what is none.
std::int64_t event_number(std::string_view text);

}  // namespace stackgate::web
