// What happens to something that takes long, as it comes: its log as text, its events as server-sent events.
#pragma once
#include <chrono>
#include <cstdint>
#include <functional>
#include <iterator>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "services/kit/base/try.hpp"
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

inline constexpr std::int64_t events_at_once = 500;
inline constexpr std::size_t most_events_listed = 10'000;

/// Of records that have events(id, after, limit, with_log), an expected vector of events with a number.
template <typename Records, typename Event>
EventSource source_of_events(const Records& records, std::string id, bool with_log, std::string (*text)(const Event&),
                             // NOLINTNEXTLINE(performance-unnecessary-value-param): it is moved
                             std::function<std::optional<bool>()> ended, std::chrono::milliseconds pause) {
  return {.next = [&records, id = std::move(id), with_log,
                   text](std::int64_t after) -> std::optional<std::vector<NumberedEvent>> {
            const auto events = records.events(id, after, events_at_once, with_log);
            if (!events) return std::nullopt;
            std::vector<NumberedEvent> out;
            for (const Event& each : *events) out.push_back({each.number, text(each)});
            return out;
          },
          .ended = std::move(ended),
          .pause = pause};
}

/// All that there are behind `after`, without the log; at most about `most_events_listed`.
template <typename Records>
auto list_events(const Records& records, const std::string& id, std::int64_t after)
    -> decltype(records.events(id, after, events_at_once, false)) {
  auto out = TRY(records.events(id, after, events_at_once, false));
  for (auto some = out.size(); some == events_at_once && out.size() < most_events_listed;) {
    auto more = TRY(records.events(id, out.back().number, events_at_once, false));
    some = more.size();
    out.insert(out.end(), std::make_move_iterator(more.begin()), std::make_move_iterator(more.end()));
  }
  return out;
}

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
