#include <array>
#include <mutex>

#include "services/evaluator/runs/native.hpp"
#include "services/evaluator/runs/progress.hpp"
#include "services/evaluator/suite/results.hpp"

namespace stackgate::evaluator {
namespace as_workflow_detail {

constexpr std::size_t most_log_lines = 20'000, lines_at_once = 200;

/// The framework's lines, put down many at a time.
class LogLines {
 public:
  explicit LogLines(Diary& diary) : diary_(diary) {}
  ~LogLines() { flush(); }
  LogLines(const LogLines&) = delete;
  LogLines& operator=(const LogLines&) = delete;

  void add(std::string_view line) {
    if (count_ > most_log_lines) return;
    lines_.emplace_back(count_++ < most_log_lines ? line : "further lines are left out");
    if (lines_.size() >= lines_at_once || std::chrono::steady_clock::now() > next_) flush();
  }
  void flush() {
    if (!lines_.empty()) diary_.insist("log", [&] { return diary_.records().add_log(diary_.id(), lines_); });
    lines_.clear();
    next_ = std::chrono::steady_clock::now() + std::chrono::seconds(1);
  }

 private:
  Diary& diary_;
  std::vector<std::string> lines_;
  std::size_t count_ = 0;
  std::chrono::steady_clock::time_point next_{};
};

}  // namespace as_workflow_detail

Conclusion run_as_workflow(RunContext& context, bool& later) {
  Diary& diary = context.diary;
  as_workflow_detail::LogLines lines(diary);
  double least = shown_percent(context.evaluation.progress);
  const WorkflowWatch watch{
      .event = [&](std::string_view message) { diary.note(message); },
      .log = [&](std::string_view line) { lines.add(line); },
      .progress =
          [&](double percent, std::string_view) {
            least = std::max(least, percent);
            const std::string text = progress_json(context.request.tasks, "running", std::min(least, 99.9));
            diary.insist("progress", [&] { return diary.records().set_progress(diary.id(), text, ""); });
          },
      // A process that ends leaves the workflow to the one that goes on with it.
      .stop = [&] { return context.cancelled(); },
      .leave = [&] { return diary.stopping(); }};
  auto done = run_workflow(context.request, diary.id(), context.options.workflow, watch);
  if (!done) {
    later = done.error().away;
    if (later) diary.waits(done.error().message);
    return {
        .stopped = done.error().stopped || later, .state = State::failed, .message = std::move(done.error().message)};
  }
  const std::string progress = progress_json(context.request.tasks, "completed", 100);
  const std::string results = results_json(done->tasks, true);
  if (!diary.insist("progress", [&] { return diary.records().set_progress(diary.id(), progress, results); }))
    return {.stopped = true};
  return {.results = results};
}

}  // namespace stackgate::evaluator
