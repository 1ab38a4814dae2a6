#include "services/kit/web/follow.hpp"

#include <algorithm>
#include <charconv>
#include <thread>

#include "services/kit/web/sse.hpp"

namespace stackgate::web {
namespace follow_detail {

using std::chrono::milliseconds;

constexpr std::chrono::seconds ping{15};
constexpr milliseconds last_pause{200};  // what is last comes right after the end

/// `send` gets each event, until it is false. `idle` is called when there is nothing new: false ends it, too.
template <class Send, class Idle>
void follow(const EventSource& source, std::int64_t after, const Send& send, const Idle& idle) {
  for (bool last = false;;) {
    const auto events = source.next(after);
    if (!events) return;
    for (const NumberedEvent& each : *events) {
      if (!send(each)) return;
      after = each.number;
    }
    if (!events->empty()) continue;
    if (last) return;
    const auto ended = source.ended();
    if (!ended) return;
    last = *ended;
    if (!idle(last ? std::min(source.pause, last_pause) : source.pause)) return;
  }
}

/// Waits, while the client is there and the process does not end.
template <class Stream>
bool pause(const Stream& stream, milliseconds time) {
  const auto until = std::chrono::steady_clock::now() + time;
  do {
    if (stream.gone() || stream.draining()) return false;
    std::this_thread::sleep_for(std::min(time, milliseconds(50)));
  } while (std::chrono::steady_clock::now() < until);
  return true;
}

}  // namespace follow_detail

using namespace follow_detail;

Answer send_log(Call& call, const EventSource& source, bool follows) {
  const auto writer = call.start({.status = 200,
                                  .content_type = "text/plain; charset=utf-8",
                                  .headers = {{"Cache-Control", "no-cache"}, {"X-Accel-Buffering", "no"}}},
                                 std::nullopt);
  follow(
      source, 0, [&](const NumberedEvent& event) { return writer->write(event.text).has_value(); },
      [&](milliseconds time) { return follows && pause(*writer, time); });
  (void)writer->finish();
  return Streamed{};
}

Answer send_events(Call& call, const EventSource& source, std::string_view name, std::int64_t after) {
  if (const auto last = call.request().header("Last-Event-ID"); !last.empty()) after = event_number(last);
  EventStream stream(call);
  auto last_sent = std::chrono::steady_clock::now();
  (void)stream.keep_alive();
  follow(
      source, after,
      [&](const NumberedEvent& event) {
        last_sent = std::chrono::steady_clock::now();
        return stream.send({.data = event.text, .name = name, .id = std::to_string(event.number)}).has_value();
      },
      [&](milliseconds time) {
        if (std::chrono::steady_clock::now() - last_sent > ping) {
          last_sent = std::chrono::steady_clock::now();
          if (!stream.keep_alive()) return false;
        }
        return pause(stream, time);
      });
  (void)stream.finish();
  return Streamed{};
}

bool wants_events(const http::Request& request) { return request.header("Accept").contains("text/event-stream"); }

std::int64_t event_number(std::string_view text) {
  std::int64_t out = 0;
  std::from_chars(text.data(), text.data() + text.size(), out);
  return std::max<std::int64_t>(out, 0);
}

}  // namespace stackgate::web
