#include "services/evaluator/runs/native.hpp"

#include <algorithm>
#include <mutex>

#include <fmt/format.h>

#include "services/evaluator/engine/asking.hpp"
#include "services/evaluator/runs/answerers.hpp"
#include "services/evaluator/runs/progress.hpp"
#include "services/evaluator/runs/searched.hpp"
#include "services/evaluator/runs/stage.hpp"
#include "services/evaluator/suite/results.hpp"
#include "services/kit/base/try.hpp"
#include "services/kit/findings/finding.hpp"
#include "services/kit/json/write.hpp"

namespace stackgate::evaluator {
namespace native_detail {

using Clock = std::chrono::steady_clock;

constexpr std::size_t most_faults_noted = 5;  // of a task's samples, as events
constexpr int pause_factor = 20;              // a partial result takes at most so small a part of the time

Conclusion stopped() { return {.stopped = true}; }
Conclusion failed(std::string message) { return {.state = State::failed, .message = std::move(message)}; }

std::string text_of(const validate::Findings& findings) {
  constexpr std::size_t most = 20;
  std::string out;
  for (std::size_t i = 0; i < std::min(findings.size(), most); ++i)
    out += fmt::format("{}{}: {}", i == 0 ? "" : "\n", findings[i].path, validate::to_line(findings[i]));
  if (findings.size() > most) out += fmt::format("\nand {} more", findings.size() - most);
  return out;
}

class NativeRun {
 public:
  explicit NativeRun(RunContext& context) : context_(context), journal_(context.journal) {}

  Conclusion run() {
    std::optional<Stage> stage(std::in_place, context_, "data");
    auto data = open_data();
    if (!data) return stage->failed(std::move(data.error()));
    auto tasks = make_tasks(context_.request, *data);
    if (journal_.stopping()) return stopped();
    journal_.waits("");
    if (!tasks) return stage->failed(failed(text_of(tasks.error())));
    stage.emplace(context_, "endpoints");
    for (const auto& task : *tasks) progress_.push_back({.name = task->name(), .total = task->samples()});
    RunAnswerers answerers(
        context_.request, context_.options.authorities, [this] { return journal_.stopping(); }, context_.metrics);
    const bool likelihoods = std::ranges::any_of(*tasks, [](const auto& task) { return task->wants_likelihoods(); });
    const Waiting model{context_.options.patience, context_.options.pause};
    const Waiting others{context_.options.answer_patience, context_.options.pause};
    if (auto ready = answerers.prepare(journal_, likelihoods, model, others); !ready)
      return ready.error().empty() ? stopped() : stage->failed(failed(std::move(ready.error())));
    stage.reset();
    for (std::size_t i = 0; i < tasks->size(); ++i) {
      const Task& task = *(*tasks)[i];
      Searched searched(task, context_, *data, answerers);
      if (auto ready = searched.open(); !ready) {
        if (ready.error().empty()) return stopped();
        lose_task(task, i, ready.error());
        continue;
      }
      Stage asking(context_, "task", {{"evaluation.task", task.name()}});
      if (!run_task(task, i, searched.answerers())) return stopped();
      asking.set("evaluation.samples", static_cast<std::int64_t>(progress_[i].done));
      asking.set("evaluation.samples_without_scores", static_cast<std::int64_t>(progress_[i].failed));
    }
    return conclude();
  }

 private:
  std::expected<DataSource, Conclusion> open_data() {
    DatasetSource& source = context_.request.dataset;
    if (!context_.request.inline_rows.empty()) return inline_source(context_.request.inline_rows);
    if (source.repository.empty()) return DataSource{};
    if (!context_.options.datasets)
      return std::unexpected(failed("data sets cannot be read: this service was started without --datastore-url"));
    const Datasets datasets = context_.options.datasets([this] { return journal_.stopping(); });
    const auto until = Clock::now() + context_.options.patience;
    const DataReading reading{.again = [this, until](std::string_view why) {
      if (journal_.stopping() || Clock::now() > until) return false;
      journal_.waits(fmt::format("waits for the datastore: {}", why));
      const auto next = Clock::now() + context_.options.pause;
      while (Clock::now() < next && !journal_.stopping()) std::this_thread::sleep_for(std::chrono::milliseconds(100));
      return !journal_.stopping();
    }};
    if (!is_pinned(source.revision)) {
      auto commit = pin_dataset(*datasets, source);
      while (!commit && commit.error().away && reading.again(commit.error().message))
        commit = pin_dataset(*datasets, source);
      if (!commit) return std::unexpected(journal_.stopping() ? stopped() : failed(std::move(commit.error().message)));
      source.revision = *commit;
      // A run that starts again must read the same.
      if (!journal_.insist("pinned",
                           [&] { return journal_.records().set_request(journal_.id(), to_json(context_.request)); }))
        return std::unexpected(stopped());
    }
    auto data = open_dataset(datasets, source, reading);
    if (!data) return std::unexpected(journal_.stopping() ? stopped() : failed(std::move(data.error().message)));
    // Its files are read by make_tasks, so it may still be waited for.
    journal_.waits("");
    return std::move(*data);
  }

  /// One whose documents cannot be searched costs its own scores, and no other's.
  void lose_task(const Task& task, std::size_t place, const std::string& why) {
    journal_.note(fmt::format("task {}: {}", task.name(), why));
    TaskProgress& progress = progress_[place];
    progress.done = progress.failed = task.samples();
    progress.complete = true;
    if (why_lost_.empty()) why_lost_ = why;
  }

  /// False: stopped.
  bool run_task(const Task& task, std::size_t place, const Answerers& answerers) {
    TaskProgress& progress = progress_[place];
    std::vector<std::vector<double>> values(task.samples());
    std::vector<bool> has_values(task.samples(), false);
    bool stored = true;
    // They are lent, not copied: there may be 100,000 of them.
    const auto result = [&] {
      std::vector<std::vector<double>> scored;
      scored.reserve(static_cast<std::size_t>(std::ranges::count(has_values, true)));
      for (std::size_t i = 0; i < values.size(); ++i)
        if (has_values[i]) scored.push_back(std::move(values[i]));
      TaskResult out = task.result(scored, progress.failed);
      for (std::size_t i = 0, next = 0; i < values.size(); ++i)
        if (has_values[i]) values[i] = std::move(scored[next++]);
      return out;
    };
    const Progress watch{.known = context_.is_first ? decltype(Progress::known)()
                                                    : [this](const std::string& digest) { return known(digest); },
                         .answers =
                             [&](std::vector<std::pair<std::string, std::string>> answers) {
                               stored = stored && journal_.insist("answers", [&] {
                                 return journal_.records().add_answers(journal_.id(), answers);
                               });
                             },
                         .samples =
                             [&](std::vector<std::pair<std::size_t, Scored>> samples) {
                               stored = stored && keep(task, samples, progress);
                               for (auto& [number, scored] : samples) {
                                 has_values[number] = scored.fault.empty();
                                 values[number] = std::move(scored.values);
                                 values[number].shrink_to_fit();
                               }
                               if (stored && Clock::now() >= next_save_) save(result());
                             },
                         .stop = [&] { return !stored || journal_.stopping(); }};
    const AskingOptions asking{.parallelism = context_.request.requests.parallelism,
                               .patience = context_.options.answer_patience,
                               .pause = context_.options.pause};
    if (!ask_all(task, answerers, asking, watch)) return false;
    progress.complete = true;
    done_.push_back(result());
    journal_.note(progress.failed == 0 ? fmt::format("task {}: {} samples", task.name(), progress.done)
                                       : fmt::format("task {}: {} samples, {} of them without scores", task.name(),
                                                     progress.done, progress.failed));
    return save(std::nullopt);
  }

  std::optional<std::string> known(const std::string& digest) {
    std::optional<std::string> out;
    journal_.insist("known", [&]() -> sql::Expected<void> {
      auto found = TRY(journal_.records().answers(journal_.id(), {&digest, 1}));
      if (const auto one = found.find(digest); one != found.end()) out = std::move(one->second);
      return {};
    });
    if (out) context_.metrics.known_answer();
    return out;
  }

  bool keep(const Task& task, const std::vector<std::pair<std::size_t, Scored>>& samples, TaskProgress& progress) {
    std::vector<Sample> rows;
    std::uint64_t faults = 0;
    for (const auto& sample : samples) {
      const std::size_t number = sample.first;
      const Scored& scored = sample.second;
      if (!scored.fault.empty()) {
        if (progress.failed + faults++ < most_faults_noted)
          journal_.note(fmt::format("task {}, sample {}: {}", task.name(), number, scored.fault));
      }
      rows.push_back({.task = task.name(), .number = static_cast<std::int64_t>(number), .record = scored.record});
      if (rows.back().record.empty())
        rows.back().record = json::object_text([&](json::Writer& w) { w.member("fault", scored.fault); });
    }
    progress.done += samples.size();
    progress.failed += faults;
    context_.metrics.samples(samples.size() - faults, faults);
    return journal_.insist("samples", [&] { return journal_.records().add_samples(journal_.id(), rows); });
  }

  /// Results so far, and of a part of the task under way.
  bool save(std::optional<TaskResult> part) {
    const auto begun = Clock::now();
    std::vector<TaskResult> all = done_;
    if (part) all.push_back(std::move(*part));
    const std::string progress = progress_json(progress_, least_), results = results_json(all, false);
    const bool good =
        journal_.insist("progress", [&] { return journal_.records().set_progress(journal_.id(), progress, results); });
    const auto took = Clock::now() - begun;
    next_save_ = Clock::now() + std::max<Clock::duration>(context_.options.save, pause_factor * took);
    return good;
  }

  Conclusion conclude() {
    std::uint64_t all = 0, without = 0;
    for (const TaskProgress& each : progress_) {
      all += each.total;
      without += each.failed;
    }
    if (done_.empty() && !why_lost_.empty()) return failed(why_lost_);
    Conclusion out{.results = results_json(done_, true)};
    if (without > 0) out.message = fmt::format("{} of {} samples have no scores; their records say why", without, all);
    if (!why_lost_.empty()) out.message += fmt::format("; {}", why_lost_);
    return out;
  }

  static bool is_pinned(std::string_view revision) {
    return revision.size() == 40 &&
           std::ranges::all_of(revision, [](char c) { return (c >= '0' && c <= '9') || (c >= 'a' && c <= 'f'); });
  }

  RunContext& context_;
  RunJournal& journal_;
  std::vector<TaskProgress> progress_;
  std::vector<TaskResult> done_;
  std::string why_lost_{};  // of the first task that was lost
  const double least_ = shown_percent(context_.evaluation.progress);
  Clock::time_point next_save_ = Clock::now();
};

}  // namespace native_detail

Conclusion run_native(RunContext& context) { return native_detail::NativeRun(context).run(); }

}  // namespace stackgate::evaluator
