#include "services/evaluator/front/show.hpp"

#include <chrono>

#include <fmt/format.h>

#include "services/kit/base/time.hpp"
#include "services/kit/json/parse.hpp"
#include "services/kit/json/read.hpp"

namespace stackgate::evaluator {
namespace show_detail {

std::string time_text(std::int64_t seconds) {
  return to_rfc3339(std::chrono::sys_seconds(std::chrono::seconds(seconds)));
}

/// The members of a stored object; nothing of what is none.
void write_members(json::Writer& w, std::string_view text, std::initializer_list<std::string_view> but = {}) {
  json::Document document;
  if (const auto root = json::parse(text, document); root && root->is_object()) w.members(*root, but);
}

void write_status(json::Writer& w, const Evaluation& evaluation) {
  w.member("message", evaluation.message);
  if (evaluation.progress.empty()) {
    w.object("task_status", [] {});
    w.member("progress", evaluation.state == State::completed ? 100 : 0);
  } else {
    write_members(w, evaluation.progress);
  }
}

}  // namespace show_detail

using namespace show_detail;

void write_time(json::Writer& w, std::string_view name, std::int64_t seconds) {
  if (seconds == 0)
    w.member(name, nullptr);
  else
    w.member(name, time_text(seconds));
}

void write_evaluation(json::Writer& w, const Evaluation& evaluation, bool is_listed) {
  w.object([&] {
    if (!evaluation.id.empty()) w.member("id", evaluation.id);
    w.member("name", evaluation.name);
    w.member("namespace", "default");
    w.member("status", to_string(evaluation.state));
    w.object("status_details", [&] { write_status(w, evaluation); });
    write_time(w, "created_at", evaluation.created_at);
    write_time(w, "updated_at", evaluation.changed_at);
    write_time(w, "started_at", evaluation.started_at);
    write_time(w, "ended_at", evaluation.ended_at);
    write_members(w, evaluation.request, {"name", is_listed ? "rows" : "name"});
    if (!evaluation.adapter.empty()) {
      w.key("adapter");
      w.raw(evaluation.adapter);
    }
    w.key("warnings");
    w.raw(evaluation.warnings.empty() ? "[]" : evaluation.warnings);
  });
}

std::string evaluation_json(const Evaluation& evaluation) {
  std::string out;
  json::Writer w(out);
  write_evaluation(w, evaluation);
  return out;
}

std::string status_json(const Evaluation& evaluation) {
  return json::object_text([&](json::Writer& w) {
    w.member("status", to_string(evaluation.state));
    write_status(w, evaluation);
  });
}

std::string list_json(std::span<const Evaluation> rows, const web::Page& page, std::uint64_t total,
                      std::string_view sort, std::string_view filter) {
  return json::object_text([&](json::Writer& w) {
    w.member("object", "list");
    w.array("data", [&] {
      for (const Evaluation& each : rows) write_evaluation(w, each, true);
    });
    web::write_pagination(w, page, rows.size(), total);
    w.member("sort", sort);
    w.key("filter");
    w.raw(filter);
  });
}

std::string results_answer(const Evaluation& evaluation, std::string_view base_url) {
  return json::object_text([&](json::Writer& w) {
    w.member("id", fmt::format("{}-results", evaluation.id));
    w.member("job", evaluation.id);
    w.member("name", evaluation.name);
    w.member("namespace", "default");
    w.member("status", to_string(evaluation.state));
    write_time(w, "created_at", evaluation.created_at);
    write_time(w, "updated_at", evaluation.changed_at);
    w.member("files_url", fmt::format("{}/v1/evaluations/{}/results?format=zip", base_url, evaluation.name));
    if (evaluation.results.empty()) {
      w.member("complete", false);
      w.object("tasks", [] {});
      w.object("groups", [] {});
    } else {
      write_members(w, evaluation.results);
    }
    w.object("custom_fields", [&] {
      if (evaluation.adapter.empty()) return;
      w.key("adapter");
      w.raw(evaluation.adapter);
    });
  });
}

std::string events_json(std::span<const Event> events) {
  return json::object_text([&](json::Writer& w) {
    w.member("object", "list");
    w.array("data", [&] {
      for (const Event& each : events)
        w.object([&] {
          w.member("number", each.number);
          write_time(w, "created_at", each.at);
          w.member("message", each.message);
        });
    });
  });
}

std::string log_line(const Event& event) { return fmt::format("{} {}\n", time_text(event.at), event.message); }

std::string warnings_json(const validate::Findings& warnings) {
  std::string out;
  json::Writer w(out);
  w.array([&] {
    for (const validate::Finding& each : warnings)
      w.object([&] {
        w.array("loc", [&] {
          w.value("body");
          w.value(each.path);
        });
        w.member("msg", validate::to_line(each));
        w.member("type", each.rule);
      });
  });
  return out;
}

}  // namespace stackgate::evaluator
