#include <algorithm>
#include <array>
#include <mutex>
#include <span>

#include <fmt/format.h>

#include "services/evaluator/runs/native.hpp"
#include "services/evaluator/runs/progress.hpp"
#include "services/evaluator/runs/stage.hpp"
#include "services/evaluator/suite/results.hpp"
#include "services/evaluator/workflow/protocol/log_capture.hpp"

namespace stackgate::evaluator {
namespace as_workflow_detail {

constexpr std::size_t most_log_lines = 20'000, lines_at_once = 200;

/// The framework's lines, put down many at a time.
class LogLines {
 public:
  explicit LogLines(RunJournal& journal) : journal_(journal) {}
  ~LogLines() { flush(); }
  LogLines(const LogLines&) = delete;
  LogLines& operator=(const LogLines&) = delete;

  void add(std::string_view line) {
    if (count_ > most_log_lines) return;
    lines_.emplace_back(count_++ < most_log_lines ? line : "further lines are left out");
    if (lines_.size() >= lines_at_once || std::chrono::steady_clock::now() > next_) flush();
  }
  void flush() {
    if (!lines_.empty()) journal_.insist("log", [&] { return journal_.records().add_log(journal_.id(), lines_); });
    lines_.clear();
    next_ = std::chrono::steady_clock::now() + std::chrono::seconds(1);
  }

 private:
  RunJournal& journal_;
  std::vector<std::string> lines_;
  std::size_t count_ = 0;
  std::chrono::steady_clock::time_point next_{};
};

/// False: stopped.
bool keep_samples(RunJournal& journal, std::span<const FrameworkSample> samples) {
  constexpr std::size_t at_once = 500;
  for (auto rest = samples; !rest.empty(); rest = rest.subspan(std::min(at_once, rest.size()))) {
    std::vector<Sample> rows;
    for (const FrameworkSample& each : rest.first(std::min(at_once, rest.size())))
      rows.push_back({.task = each.task, .number = each.number, .record = each.record});
    if (!journal.insist("samples", [&] { return journal.records().add_samples(journal.id(), rows); })) return false;
  }
  if (!samples.empty()) journal.note(fmt::format("records of {} samples are kept", samples.size()));
  return true;
}

constexpr std::uint64_t largest_samples_file = 8U << 20U;

/// What the framework left in the datastore below the evaluation's id: its last results, and samples beside them.
std::expected<StoredFiles, std::string> stored_files(RunContext& context) {
  const std::string& repository = context.options.workflow.results_repository;
  StoredFiles out;
  if (repository.empty() || !context.options.datasets) return out;
  RunJournal& journal = context.journal;
  const Datasets datasets = context.options.datasets([&journal] { return journal.stopping(); });
  const auto failed = [&](const datastore_client::DatastoreError& error) -> std::expected<StoredFiles, std::string> {
    if (error.away) return std::unexpected("the datastore is away: " + error.message);
    journal.note(fmt::format("no results in {}: {}", repository, error.message));
    return StoredFiles();
  };
  const auto commit = datasets->pin(repository, "");
  if (!commit) return failed(commit.error());
  if (!*commit) return out;
  const auto files = datasets->files(repository, **commit);
  if (!files) return failed(files.error());
  const std::string folder = journal.id() + "/";
  for (const auto& each : *files) {
    if (!each.path.starts_with(folder)) continue;
    const std::string name = each.path.substr(each.path.rfind('/') + 1);
    const bool is_results = name.starts_with("results") && name.ends_with(".json");
    if (!is_results && task_of_samples(name).empty()) continue;
    auto text = datasets->read(repository, **commit, each.path, is_results ? largest_results : largest_samples_file);
    if (!text && is_results) return failed(text.error());
    if (text) out.insert_or_assign(name, std::move(*text));
  }
  return out;
}

}  // namespace as_workflow_detail

Conclusion run_as_workflow(RunContext& context, bool& later) {
  RunJournal& journal = context.journal;
  as_workflow_detail::LogLines lines(journal);
  double least = shown_percent(context.evaluation.progress);
  const WorkflowWatch watch{
      .event = [&](std::string_view message) { journal.note(message); },
      .log = [&](std::string_view line) { lines.add(line); },
      .progress =
          [&](double percent, std::string_view) {
            least = std::max(least, percent);
            const std::string text = progress_json(context.request.tasks, "running", std::min(least, 99.9));
            journal.insist("progress", [&] { return journal.records().set_progress(journal.id(), text, ""); });
          },
      .stored = [&] { return as_workflow_detail::stored_files(context); },
      // A process that ends leaves the workflow to the one that goes on with it.
      .stop = [&] { return context.cancelled(); },
      .leave = [&] { return journal.stopping(); }};
  Stage stage(context, "workflow");
  auto done = run_workflow(context.request, journal.id(), context.options.workflow, watch);
  if (!done) {
    later = done.error().away;
    if (later) journal.waits(done.error().message);
    return stage.failed(
        {.stopped = done.error().stopped || later, .state = State::failed, .message = std::move(done.error().message)});
  }
  if (!as_workflow_detail::keep_samples(journal, done->samples)) return {.stopped = true};
  const std::string progress = progress_json(context.request.tasks, "completed", 100);
  const std::string results = results_json(done->tasks, true);
  if (!journal.insist("progress", [&] { return journal.records().set_progress(journal.id(), progress, results); }))
    return {.stopped = true};
  return {.results = results};
}

}  // namespace stackgate::evaluator
