// GET …/logs and …/events: at once, or as they come until the evaluation ends.
#include "services/kit/web/follow.hpp"

#include "services/evaluator/front/front.hpp"
#include "services/evaluator/front/show.hpp"
#include "services/kit/base/try.hpp"
#include "services/kit/json/write.hpp"
#include "services/kit/web/json.hpp"
#include "services/kit/web/query_values.hpp"

namespace stackgate::evaluator {
namespace follow_detail {

std::string data_of(const Event& event) {
  return json::object_text([&](json::Writer& w) {
    w.member("number", event.number);
    write_time(w, "created_at", event.at);
    w.member("message", event.message);
  });
}

web::EventSource source_of(const Front& front, const std::string& id, bool with_log,
                           std::string (*text)(const Event& event)) {
  const auto ended = [&front, id]() -> std::optional<bool> {
    const auto evaluation = front.records().find_by_id(id);
    if (!evaluation) return std::nullopt;
    return !*evaluation || is_final((*evaluation)->state);
  };
  return web::source_of_events(front.records(), id, with_log, text, ended, front.options.follow);
}

}  // namespace follow_detail

using namespace follow_detail;

web::Answer get_logs(const Front& front, web::Call& call) {
  const Evaluation evaluation = TRY(find_evaluation(front, call));
  const bool follows = TRY(web::read_flag(call.query(), "follow"));
  return web::send_log(call, source_of(front, evaluation.id, true, log_line), follows);
}

web::Answer get_events(const Front& front, web::Call& call) {
  const Evaluation evaluation = TRY(find_evaluation(front, call));
  const std::int64_t after = web::event_number(call.query().get("after").value_or("0"));
  if (web::wants_events(call.request()))
    return web::send_events(call, source_of(front, evaluation.id, false, data_of), "event", after);
  const auto all = TRY(web::list_events(front.records(), evaluation.id, after));
  return web::json_answer(events_json(all));
}

}  // namespace stackgate::evaluator
