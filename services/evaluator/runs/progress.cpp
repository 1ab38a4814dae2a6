#include "services/evaluator/runs/progress.hpp"

#include <algorithm>
#include <cmath>

#include "services/kit/json/parse.hpp"
#include "services/kit/json/read.hpp"
#include "services/kit/json/write.hpp"

namespace stackgate::evaluator {
namespace progress_detail {

std::string_view status_of(const TaskProgress& task) {
  if (task.complete) return "completed";
  return task.done > 0 ? "running" : "pending";
}

/// Of a hundred, with one digit behind the point.
double tenths(double percent) { return std::floor(std::clamp(percent, 0.0, 100.0) * 10) / 10; }

}  // namespace progress_detail

double percent_of(const std::vector<TaskProgress>& tasks) {
  std::uint64_t total = 0, done = 0;
  for (const TaskProgress& each : tasks) {
    total += each.total;
    done += each.done;
  }
  if (!tasks.empty() && std::ranges::all_of(tasks, &TaskProgress::complete)) return 100;
  return total == 0 ? 0 : std::min(99.9, 100 * static_cast<double>(done) / static_cast<double>(total));
}

std::string progress_json(const std::vector<TaskProgress>& tasks, double least) {
  TaskProgress all;
  for (const TaskProgress& each : tasks) {
    all.total += each.total;
    all.done += each.done;
    all.failed += each.failed;
  }
  return json::object_text([&](json::Writer& w) {
    w.object("task_status", [&] {
      for (const TaskProgress& each : tasks) w.member(each.name, progress_detail::status_of(each));
    });
    w.member("progress", progress_detail::tenths(std::max(percent_of(tasks), least)));
    w.object("samples", [&] {
      w.member("total", all.total);
      w.member("done", all.done);
      w.member("failed", all.failed);
    });
  });
}

std::string progress_json(const std::vector<std::string>& tasks, std::string_view status, double percent) {
  return json::object_text([&](json::Writer& w) {
    w.object("task_status", [&] {
      for (const std::string& each : tasks) w.member(each, status);
    });
    w.member("progress", progress_detail::tenths(percent));
  });
}

double shown_percent(std::string_view progress) {
  json::Document document;
  const auto root = json::parse(progress, document);
  return root ? std::clamp(json::value_at(&*root, {"progress"}).number(), 0.0, 100.0) : 0;
}

}  // namespace stackgate::evaluator
