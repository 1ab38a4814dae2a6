// GET …/logs and …/events: at once, or as they come until the evaluation ends.
#include <charconv>
#include <thread>

#include <fmt/format.h>

#include "services/evaluator/front/front.hpp"
#include "services/evaluator/front/show.hpp"
#include "services/kit/base/try.hpp"
#include "services/kit/json/write.hpp"
#include "services/kit/web/json.hpp"
#include "services/kit/web/media_type.hpp"
#include "services/kit/web/sse.hpp"

namespace stackgate::evaluator {
namespace follow_detail {

constexpr std::int64_t at_once = 500;
constexpr std::chrono::seconds ping{15};

bool is_on(const std::optional<std::string_view>& flag) {
  return flag && (flag->empty() || *flag == "true" || *flag == "1");
}

/// `send` gets each event, until it is false. `idle` is called when there is nothing new: false ends it, too.
template <class Send, class Idle>
void follow(const Front& front, const std::string& id, std::int64_t after, bool with_log, const Send& send,
            const Idle& idle) {
  for (bool last = false;;) {
    const auto events = front.records().events(id, after, at_once, with_log);
    if (!events) return;
    for (const Event& each : *events) {
      if (!send(each)) return;
      after = each.number;
    }
    if (static_cast<std::int64_t>(events->size()) == at_once) continue;
    if (last) return;
    const auto evaluation = front.records().find_by_id(id);
    if (!evaluation) return;
    // The event of its end comes right after its state.
    last = !*evaluation || is_final((*evaluation)->state);
    if (!idle(last ? std::min(front.options.follow, std::chrono::milliseconds(200)) : front.options.follow)) return;
  }
}

/// Waits, while the client is there and the process does not end.
template <class Stream>
bool pause(const Stream& stream, std::chrono::milliseconds time) {
  const auto until = std::chrono::steady_clock::now() + time;
  do {
    if (stream.gone() || stream.draining()) return false;
    std::this_thread::sleep_for(std::min(time, std::chrono::milliseconds(50)));
  } while (std::chrono::steady_clock::now() < until);
  return true;
}

std::int64_t number_of(std::string_view text) {
  std::int64_t out = 0;
  std::from_chars(text.data(), text.data() + text.size(), out);
  return std::max<std::int64_t>(out, 0);
}

std::string data_of(const Event& event) {
  return json::object_text([&](json::Writer& w) {
    w.member("number", event.number);
    write_time(w, "created_at", event.at);
    w.member("message", event.message);
  });
}

web::Answer stream_events(const Front& front, web::Call& call, const std::string& id, std::int64_t after) {
  web::EventStream stream(call);
  auto last_sent = std::chrono::steady_clock::now();
  (void)stream.keep_alive();
  follow(
      front, id, after, false,
      [&](const Event& event) {
        last_sent = std::chrono::steady_clock::now();
        return stream.send({.data = data_of(event), .name = "event", .id = std::to_string(event.number)}).has_value();
      },
      [&](std::chrono::milliseconds time) {
        if (std::chrono::steady_clock::now() - last_sent > ping) {
          last_sent = std::chrono::steady_clock::now();
          if (!stream.keep_alive()) return false;
        }
        return pause(stream, time);
      });
  (void)stream.finish();
  return web::Streamed{};
}

}  // namespace follow_detail

using namespace follow_detail;

web::Answer get_logs(const Front& front, web::Call& call) {
  const Evaluation evaluation = TRY(find_evaluation(front, call));
  const bool follows = is_on(call.query().get("follow"));
  const auto writer = call.start({.status = 200,
                                  .content_type = "text/plain; charset=utf-8",
                                  .headers = {{"Cache-Control", "no-cache"}, {"X-Accel-Buffering", "no"}}},
                                 std::nullopt);
  follow(
      front, evaluation.id, 0, true, [&](const Event& event) { return writer->write(log_line(event)).has_value(); },
      [&](std::chrono::milliseconds time) { return follows && pause(*writer, time); });
  (void)writer->finish();
  return web::Streamed{};
}

web::Answer get_events(const Front& front, web::Call& call) {
  const Evaluation evaluation = TRY(find_evaluation(front, call));
  std::int64_t after = number_of(call.query().get("after").value_or("0"));
  const http::Request& request = call.request();
  if (!request.header("Accept").contains("text/event-stream")) {
    std::vector<Event> all;
    for (;;) {
      const auto some = TRY(front.records().events(evaluation.id, after, at_once));
      all.insert(all.end(), some.begin(), some.end());
      if (static_cast<std::int64_t>(some.size()) < at_once || all.size() >= 10'000) break;
      after = some.back().number;
    }
    return web::json_answer(events_json(all));
  }
  if (const auto last = request.header("Last-Event-ID"); !last.empty()) after = number_of(last);
  return stream_events(front, call, evaluation.id, after);
}

}  // namespace stackgate::evaluator
