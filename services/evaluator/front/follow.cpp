// GET …/logs and …/events: at once, or as they come until the evaluation ends.
#include "services/kit/web/follow.hpp"

#include "services/evaluator/front/front.hpp"
#include "services/evaluator/front/show.hpp"
#include "services/kit/base/try.hpp"
#include "services/kit/json/write.hpp"
#include "services/kit/web/json.hpp"

namespace stackgate::evaluator {
namespace follow_detail {

constexpr std::int64_t at_once = 500;
constexpr std::size_t most_listed = 10'000;

bool is_on(const std::optional<std::string_view>& flag) {
  return flag && (flag->empty() || *flag == "true" || *flag == "1");
}

std::string data_of(const Event& event) {
  return json::object_text([&](json::Writer& w) {
    w.member("number", event.number);
    write_time(w, "created_at", event.at);
    w.member("message", event.message);
  });
}

web::EventSource source_of(const Front& front, const std::string& id, bool with_log,
                           std::string (*text)(const Event& event)) {
  return {.next = [&front, id, with_log, text](std::int64_t after) -> std::optional<std::vector<web::NumberedEvent>> {
            const auto events = front.records().events(id, after, at_once, with_log);
            if (!events) return std::nullopt;
            std::vector<web::NumberedEvent> out;
            for (const Event& each : *events) out.push_back({each.number, text(each)});
            return out;
          },
          .ended = [&front, id]() -> std::optional<bool> {
            const auto evaluation = front.records().find_by_id(id);
            if (!evaluation) return std::nullopt;
            return !*evaluation || is_final((*evaluation)->state);
          },
          .pause = front.options.follow};
}

}  // namespace follow_detail

using namespace follow_detail;

web::Answer get_logs(const Front& front, web::Call& call) {
  const Evaluation evaluation = TRY(find_evaluation(front, call));
  return web::send_log(call, source_of(front, evaluation.id, true, log_line), is_on(call.query().get("follow")));
}

web::Answer get_events(const Front& front, web::Call& call) {
  const Evaluation evaluation = TRY(find_evaluation(front, call));
  std::int64_t after = web::event_number(call.query().get("after").value_or("0"));
  if (web::wants_events(call.request()))
    return web::send_events(call, source_of(front, evaluation.id, false, data_of), "event", after);
  std::vector<Event> all;
  for (;;) {
    const auto some = TRY(front.records().events(evaluation.id, after, at_once));
    all.insert(all.end(), some.begin(), some.end());
    if (static_cast<std::int64_t>(some.size()) < at_once || all.size() >= most_listed) break;
    after = some.back().number;
  }
  return web::json_answer(events_json(all));
}

}  // namespace stackgate::evaluator
