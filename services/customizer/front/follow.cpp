// GET …/logs and …/events: at once, or as they come until the customization ends.
#include "services/kit/web/follow.hpp"

#include <chrono>

#include <fmt/format.h>

#include "services/customizer/front/front.hpp"
#include "services/kit/base/time.hpp"
#include "services/kit/base/try.hpp"
#include "services/kit/json/write.hpp"
#include "services/kit/web/json.hpp"
#include "services/kit/web/query_values.hpp"

namespace stackgate::customizer {
namespace follow_detail {

std::string time_of(const Event& event) { return to_rfc3339(std::chrono::sys_seconds(std::chrono::seconds(event.at))); }

void write_event(json::Writer& w, const Event& event) {
  w.member("number", event.number);
  w.member("created_at", time_of(event));
  w.member("message", event.message);
  w.member("detail", event.detail);
}

std::string data_of(const Event& event) {
  return json::object_text([&](json::Writer& w) { write_event(w, event); });
}

/// "2026-01-31T09:08:07Z TrainingJobFailed: why\n", "2026-01-31T09:08:07Z [training-1] a line\n"
std::string line_of(const Event& event) {
  if (event.is_log) return fmt::format("{} [{}] {}\n", time_of(event), event.detail, event.message);
  return fmt::format("{} {}{}{}\n", time_of(event), event.message, event.detail.empty() ? "" : ": ", event.detail);
}

web::EventSource source_of(const Front& front, const std::string& id, bool with_log,
                           std::string (*text)(const Event& event)) {
  const auto ended = [&front, id]() -> std::optional<bool> {
    const auto found = front.records().find(id);
    if (!found) return std::nullopt;
    return !*found || is_final((*found)->job.state);
  };
  return web::source_of_events(front.records(), id, with_log, text, ended, front.options.follow);
}

}  // namespace follow_detail

using namespace follow_detail;

web::Answer get_logs(const Front& front, web::Call& call) {
  const Stored stored = TRY(find_customization(front, call));
  const bool follows = TRY(web::read_flag(call.query(), "follow"));
  return web::send_log(call, source_of(front, stored.job.id, true, line_of), follows);
}

web::Answer get_events(const Front& front, web::Call& call) {
  const Stored stored = TRY(find_customization(front, call));
  const std::int64_t after = web::event_number(call.query().get("after").value_or("0"));
  if (web::wants_events(call.request()))
    return web::send_events(call, source_of(front, stored.job.id, false, data_of), "event", after);
  const auto all = TRY(web::list_events(front.records(), stored.job.id, after));
  return web::json_answer([&](json::Writer& w) {
    w.object([&] {
      w.member("object", "list");
      w.array("data", [&] {
        for (const Event& each : all) w.object([&] { write_event(w, each); });
      });
    });
  });
}

}  // namespace stackgate::customizer
