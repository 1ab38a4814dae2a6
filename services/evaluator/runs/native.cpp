#include "services/evaluator/runs/native.hpp"

#include <algorithm>
#include <mutex>

#include <fmt/format.h>

#include "services/evaluator/engine/asking.hpp"
#include "services/evaluator/runs/answerers.hpp"
#include "services/evaluator/runs/progress.hpp"
#include "services/evaluator/runs/searched.hpp"
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
  explicit NativeRun(RunContext& context) : context_(context), diary_(context.diary) {}

  Conclusion run() {
    auto data = open_data();
    if (!data) return std::move(data.error());
    auto tasks = make_tasks(context_.request, *data);
    if (diary_.stopping()) return stopped();
    diary_.waits("");
    if (!tasks) return failed(text_of(tasks.error()));
    for (const auto& task : *tasks) progress_.push_back({.name = task->name(), .total = task->samples()});
    RunAnswerers answerers(context_.request, [this] { return diary_.stopping(); }, context_.metrics);
    const bool likelihoods = std::ranges::any_of(*tasks, [](const auto& task) { return task->wants_likelihoods(); });
    const Waiting model{context_.options.patience, context_.options.pause};
    const Waiting others{context_.options.answer_patience, context_.options.pause};
    if (auto ready = answerers.prepare(diary_, likelihoods, model, others); !ready)
      return ready.error().empty() ? stopped() : failed(std::move(ready.error()));
    for (std::size_t i = 0; i < tasks->size(); ++i) {
      const Task& task = *(*tasks)[i];
      Searched searched(task, context_, *data, answerers);
      if (auto ready = searched.open(); !ready)
        return ready.error().empty() ? stopped() : failed(std::move(ready.error()));
      if (!run_task(task, i, searched.answerers())) return stopped();
    }
    return conclude();
  }

 private:
  std::expected<DataSource, Conclusion> open_data() {
    DatasetSource& source = context_.request.dataset;
    if (source.repository.empty()) return DataSource{};
    if (!context_.options.datasets)
      return std::unexpected(failed("data sets cannot be read: this service was started without --datastore-url"));
    const Datasets datasets = context_.options.datasets([this] { return diary_.stopping(); });
    const auto until = Clock::now() + context_.options.patience;
    const DataReading reading{.again = [this, until](std::string_view why) {
      if (diary_.stopping() || Clock::now() > until) return false;
      diary_.waits(fmt::format("waits for the datastore: {}", why));
      const auto next = Clock::now() + context_.options.pause;
      while (Clock::now() < next && !diary_.stopping()) std::this_thread::sleep_for(std::chrono::milliseconds(100));
      return !diary_.stopping();
    }};
    if (!is_pinned(source.revision)) {
      auto commit = pin_dataset(*datasets, source);
      while (!commit && commit.error().away && reading.again(commit.error().message))
        commit = pin_dataset(*datasets, source);
      if (!commit) return std::unexpected(diary_.stopping() ? stopped() : failed(std::move(commit.error().message)));
      source.revision = *commit;
      // A run that starts again must read the same.
      if (!diary_.insist("pinned",
                         [&] { return diary_.records().set_request(diary_.id(), to_json(context_.request)); }))
        return std::unexpected(stopped());
    }
    auto data = open_dataset(datasets, source, reading);
    if (!data) return std::unexpected(diary_.stopping() ? stopped() : failed(std::move(data.error().message)));
    // Its files are read by make_tasks, so it may still be waited for.
    diary_.waits("");
    return std::move(*data);
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
                               stored = stored && diary_.insist("answers", [&] {
                                 return diary_.records().add_answers(diary_.id(), answers);
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
                         .stop = [&] { return !stored || diary_.stopping(); }};
    const AskingOptions asking{.parallelism = context_.request.requests.parallelism,
                               .patience = context_.options.answer_patience,
                               .pause = context_.options.pause};
    if (!ask_all(task, answerers, asking, watch)) return false;
    progress.complete = true;
    done_.push_back(result());
    diary_.note(progress.failed == 0 ? fmt::format("task {}: {} samples", task.name(), progress.done)
                                     : fmt::format("task {}: {} samples, {} of them without scores", task.name(),
                                                   progress.done, progress.failed));
    return save(std::nullopt);
  }

  std::optional<std::string> known(const std::string& digest) {
    std::optional<std::string> out;
    diary_.insist("known", [&]() -> sql::Expected<void> {
      auto found = TRY(diary_.records().answers(diary_.id(), {&digest, 1}));
      if (const auto one = found.find(digest); one != found.end()) out = std::move(one->second);
      return {};
    });
    if (out) context_.metrics.known_answer();
    return out;
  }

  bool keep(const Task& task, const std::vector<std::pair<std::size_t, Scored>>& samples, TaskProgress& progress) {
    std::vector<Sample> rows;
    std::uint64_t faults = 0;
    for (const auto& [number, scored] : samples) {
      if (!scored.fault.empty()) {
        if (progress.failed + faults++ < most_faults_noted)
          diary_.note(fmt::format("task {}, sample {}: {}", task.name(), number, scored.fault));
      }
      rows.push_back({.task = task.name(), .number = static_cast<std::int64_t>(number), .record = scored.record});
      if (rows.back().record.empty())
        rows.back().record = json::object_text([&](json::Writer& w) { w.member("fault", scored.fault); });
    }
    progress.done += samples.size();
    progress.failed += faults;
    context_.metrics.samples(samples.size() - faults, faults);
    return diary_.insist("samples", [&] { return diary_.records().add_samples(diary_.id(), rows); });
  }

  /// Results so far, and of a part of the task under way.
  bool save(std::optional<TaskResult> part) {
    const auto begun = Clock::now();
    std::vector<TaskResult> all = done_;
    if (part) all.push_back(std::move(*part));
    const std::string progress = progress_json(progress_, least_), results = results_json(all, false);
    const bool good =
        diary_.insist("progress", [&] { return diary_.records().set_progress(diary_.id(), progress, results); });
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
    Conclusion out{.results = results_json(done_, true)};
    if (without > 0) out.message = fmt::format("{} of {} samples have no scores; their records say why", without, all);
    return out;
  }

  static bool is_pinned(std::string_view revision) {
    return revision.size() == 40 &&
           std::ranges::all_of(revision, [](char c) { return (c >= '0' && c <= '9') || (c >= 'a' && c <= 'f'); });
  }

  RunContext& context_;
  Diary& diary_;
  std::vector<TaskProgress> progress_;
  std::vector<TaskResult> done_;
  const double least_ = shown_percent(context_.evaluation.progress);
  Clock::time_point next_save_ = Clock::now();
};

}  // namespace native_detail

Conclusion run_native(RunContext& context) { return native_detail::NativeRun(context).run(); }

}  // namespace stackgate::evaluator
