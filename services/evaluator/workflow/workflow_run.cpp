#include "services/evaluator/workflow/workflow_run.hpp"

#include <atomic>
#include <mutex>
#include <thread>

#include <fmt/format.h>

#include "services/evaluator/workflow/argo_server.hpp"
#include "services/evaluator/workflow/protocol/framework_results.hpp"
#include "services/evaluator/workflow/protocol/log_capture.hpp"
#include "services/evaluator/workflow/protocol/next_step.hpp"
#include "services/evaluator/workflow/protocol/workflow_json.hpp"
#include "services/evaluator/workflow/watching.hpp"
#include "services/kit/base/backoff.hpp"

namespace stackgate::evaluator {
namespace workflow_run_detail {

using Clock = std::chrono::steady_clock;
using std::chrono::milliseconds;

constexpr milliseconds nap{100}, log_grace{10'000};

class Run {
 public:
  Run(const EvaluationRequest& request, std::string_view id, const WorkflowOptions& options, const WorkflowWatch& watch)
      : request_(request),
        id_(id),
        name_(workflow_name(id)),
        options_(options),
        watching_(watch),
        server_(options),
        backoff_({.first = options.pause, .most = std::max(milliseconds(30'000), options.pause)}) {
    now_.name = name_;
    now_.retries_left = options.workflow_retries;
  }
  ~Run() { end_log(milliseconds(0)); }
  Run(const Run&) = delete;
  Run& operator=(const Run&) = delete;

  std::expected<WorkflowResults, WorkflowFailure> run() {
    for (;;) {
      if (is_left())
        return std::unexpected(WorkflowFailure{.message = "it was left to whoever goes on with it", .stopped = true});
      auto facts = server_.get(name_, workflow_fields, [this] { return is_left(); });
      if (!facts) {
        if (auto failure = wait_for_server(facts.error())) return std::unexpected(*std::move(failure));
        continue;
      }
      seen(*facts);
      const NextStep next = next_step(now_);
      switch (next.kind) {
        case NextStep::Kind::done:
          return results();
        case NextStep::Kind::stopped:
          watching_.event("the workflow was stopped");
          return std::unexpected(WorkflowFailure{.message = "it was stopped", .stopped = true});
        case NextStep::Kind::fail:
          return std::unexpected(WorkflowFailure{.message = with_last_line(next.why)});
        default:
          break;
      }
      const auto done = act(next.kind);
      if (done)
        answered();
      else if (auto failure = wait_for_server(done.error()))
        return std::unexpected(*std::move(failure));
    }
  }

 private:
  /// Whoever cancels it wants it ended; that comes first.
  bool is_left() { return !watching_.stop() && watching_.leave(); }

  /// The state as it is now, and what is reported of it.
  void seen(const std::optional<WorkflowFacts>& facts) {
    now_.workflow = facts;
    now_.stop_wanted = watching_.stop();
    now_.stop_is_late = now_.stop_sent && Clock::now() - stopped_at_ > options_.stop_grace;
    if (!facts) {
      end_log(milliseconds(0));
    } else {
      now_.was_there = true;
      if (facts->phase == WorkflowPhase::unknown || facts->phase == WorkflowPhase::pending)
        watching_.event("the workflow waits for its pods");
      if (facts->phase == WorkflowPhase::running) watching_.event("the workflow is running");
      if (facts->progress && *facts->progress < 100) watching_.progress(*facts->progress, "steps of the workflow");
      if (is_final(facts->phase)) end_log(log_grace);
    }
    const std::scoped_lock lock(mutex_);
    now_.has_results = capture_.results() || !outputs_.empty();
  }

  std::expected<void, ServerFault> act(NextStep::Kind kind) {
    switch (kind) {
      case NextStep::Kind::submit:
        return submit();
      case NextStep::Kind::stop:
        watching_.event("the workflow is asked to stop");
        return stop("stop");
      case NextStep::Kind::terminate:
        watching_.event("the workflow is terminated: it did not stop in time");
        return stop("terminate");
      case NextStep::Kind::retry:
        watching_.event(fmt::format("the workflow ended in an error and is retried: {}", now_.workflow->message));
        return retry();
      case NextStep::Kind::take_results:
        return take_results();
      default:
        return follow();
    }
  }

  std::expected<void, ServerFault> stop(std::string_view verb) {
    auto sent = server_.change(name_, verb, {});
    if (!sent) return sent;
    now_.terminate_sent = now_.stop_sent;
    now_.stop_sent = true;
    stopped_at_ = Clock::now();
    return sent;
  }

  std::expected<void, ServerFault> retry() {
    auto sent = server_.change(name_, "retry", {});
    if (!sent) return sent;
    --now_.retries_left;
    pause(options_.pause);  // until its state says so
    return sent;
  }

  std::expected<void, ServerFault> submit() {
    const bool by_template = !options_.template_prefix.empty();
    const std::string body =
        by_template ? submit_template_body(request_, id_, options_) : submit_body(request_, id_, options_);
    // Whether it was just made, or was there: what is read next shows whose it is.
    const auto made = server_.submit(body, by_template, {});
    if (!made) return std::unexpected(made.error());
    if (*made) watching_.event(fmt::format("the workflow {} was submitted", name_));
    return {};
  }

  /// Until the phase changes, the stream ends or it is to stop; without a stream, for a while.
  std::expected<void, ServerFault> follow() {
    begin_log();
    const WorkflowPhase before = now_.workflow->phase;
    const auto began = Clock::now();
    const bool stop_sent = now_.stop_sent;
    const auto ended = server_.events(
        name_,
        [&](const json::Value& result) {
          const WorkflowEvent event = read_event(result);
          if (event.workflow.name != name_) return true;
          if (event.workflow.progress && *event.workflow.progress < 100)
            watching_.progress(*event.workflow.progress, "steps of the workflow");
          return !event.deleted && event.workflow.phase == before;
        },
        [&] {
          if (stop_sent && !now_.terminate_sent && Clock::now() - stopped_at_ > options_.stop_grace) return true;
          return is_left() || (!stop_sent && watching_.stop());
        });
    // A stream that ends at once must not become a loop without a pause.
    if (Clock::now() - began < options_.pause) pause(options_.pause);
    return ended ? ended : keep_going(ended.error());
  }

  /// A stream that was cut is opened again; what is forbidden is no reason to lose the workflow: its state can be read.
  std::expected<void, ServerFault> keep_going(const ServerFault& fault) {
    if (!fault.passes()) watching_.event(fmt::format("no events: {}", fault.message));
    return {};
  }

  /// Of what is left of the pods' logs, of logs that were kept as artifacts, or of the workflow's outputs.
  std::expected<void, ServerFault> take_results() {
    const auto log = read_log(false, {});
    {
      const std::scoped_lock lock(mutex_);
      if (capture_.results()) return {};
    }
    if (!log && log.error().passes()) return log;
    const auto archived = read_archive();
    if (archived && *archived) return {};
    const auto facts = server_.get(name_, outputs_fields, {});
    if (!facts) return std::unexpected(facts.error());
    if (*facts) outputs_ = (*facts)->results;
    if (outputs_.empty()) {
      auto stored = watching_.stored();
      if (!stored) return std::unexpected(ServerFault{.message = stored.error()});
      stored_ = std::move(*stored);
      outputs_ = results_in(stored_);
      if (!outputs_.empty()) watching_.event("results were read from the datastore");
    }
    if (outputs_.empty() && !archived && archived.error().passes()) return std::unexpected(archived.error());
    now_.results_were_sought = true;
    return {};
  }

  /// Whether results were found in them.
  std::expected<bool, ServerFault> read_archive() {
    const auto facts = server_.get(name_, nodes_fields, {});
    if (!facts) return std::unexpected(facts.error());
    if (!*facts) return false;
    std::optional<ServerFault> fault;
    for (const std::string& node : (*facts)->archived) {
      const auto text = server_.artifact(name_, node, log_artifact, [this] { return is_left(); });
      if (!text) {
        watching_.event(fmt::format("no archived log: {}", text.error().message));
        fault = text.error();
        continue;
      }
      LogCapture archived;
      std::string_view rest = *text;
      while (!rest.empty()) {
        const std::size_t end = std::min(rest.find('\n'), rest.size());
        archived.add(node, rest.substr(0, end), {});
        rest.remove_prefix(std::min(end + 1, rest.size()));
      }
      if (!archived.results()) continue;
      watching_.event("results were read from the archived log");
      const std::scoped_lock lock(mutex_);
      capture_ = std::move(archived);
      return true;
    }
    if (fault) return std::unexpected(*fault);
    return false;
  }

  std::expected<WorkflowResults, WorkflowFailure> results() {
    const std::scoped_lock lock(mutex_);
    WorkflowResults out{.text = capture_.results().value_or(outputs_), .log_tail = capture_.tail()};
    auto tasks = read_framework_results(out.text);
    if (!tasks)
      return std::unexpected(
          WorkflowFailure{.message = fmt::format("the framework's results cannot be used: {}", tasks.error())});
    out.tasks = *std::move(tasks);
    out.samples = read_framework_samples(stored_.empty() ? capture_.samples() : stored_);
    watching_.progress(100, "results read");
    return out;
  }

  std::string with_last_line(std::string why) {
    const std::scoped_lock lock(mutex_);
    return capture_.last_line().empty() ? why : fmt::format("{}; the log ends with: {}", why, capture_.last_line());
  }

  std::expected<void, ServerFault> read_log(bool follow, const ArgoServer::Stop& stop) {
    {
      const std::scoped_lock lock(mutex_);
      capture_.begin();
    }
    return server_.log(
        name_, follow,
        [&](const json::Value& result) {
          const LogEntry entry = read_log_entry(result);
          const std::scoped_lock lock(mutex_);
          capture_.add(entry.pod, entry.content, [this](std::string_view line) {
            watching_.log(line);
            if (const auto percent = percent_in(line)) watching_.progress(*percent * 0.99, "of the framework's work");
          });
          return true;
        },
        stop);
  }

  /// A thread that reads the log as it comes, so that it is here when the pods are gone.
  void begin_log() {
    if (log_thread_.joinable()) return;
    log_ends_ = log_ended_ = false;
    log_thread_ = std::jthread([this] {
      while (!log_ends_) {
        const auto ended = read_log(true, [this] { return log_ends_.load(); });
        if (!ended && !ended.error().passes()) watching_.event(fmt::format("no log: {}", ended.error().message));
        if (log_completes_) break;
        for (const auto until = Clock::now() + options_.pause; Clock::now() < until && !log_ends_;)
          std::this_thread::sleep_for(std::min(nap, options_.pause));
      }
      log_ended_ = true;
    });
  }

  /// Of a workflow that ended the stream ends by itself; it gets `grace` for that.
  void end_log(milliseconds grace) {
    if (!log_thread_.joinable()) return;
    log_completes_ = true;
    for (const auto until = Clock::now() + grace; Clock::now() < until && !log_ended_;)
      std::this_thread::sleep_for(nap);
    log_ends_ = true;
    log_thread_.join();
    log_completes_ = false;
  }

  void answered() {
    backoff_.reset();
    away_since_.reset();
  }

  /// Nothing: it may be asked again.
  std::optional<WorkflowFailure> wait_for_server(const ServerFault& fault) {
    if (!fault.passes()) return WorkflowFailure{.message = fault.message};
    const auto now = Clock::now();
    if (!away_since_) away_since_ = now;
    watching_.event(fault.message);
    if (now - *away_since_ > options_.patience) return WorkflowFailure{.message = fault.message, .away = true};
    const bool was_stopped = watching_.stop();
    // Asked to stop while nobody answers: what was never seen there has not been begun.
    if (was_stopped && !now_.was_there)
      return WorkflowFailure{.message = "it was stopped while the workflow server was away", .stopped = true};
    pause(backoff_.next(jitter_));
    return std::nullopt;
  }

  void pause(milliseconds time) {
    const bool stopped = watching_.stop();
    for (const auto until = Clock::now() + time; Clock::now() < until;) {
      if (is_left() || (!stopped && watching_.stop())) return;
      std::this_thread::sleep_for(std::min(nap, time));
    }
  }

  const EvaluationRequest& request_;
  const std::string_view id_;
  const std::string name_;
  const WorkflowOptions& options_;
  Watching watching_;
  ArgoServer server_;
  Backoff backoff_;
  Jitter jitter_ = Jitter::random();
  std::optional<Clock::time_point> away_since_{};
  WorkflowSituation now_{};
  Clock::time_point stopped_at_{};
  std::string outputs_{};
  StoredFiles stored_{};
  std::mutex mutex_;  // of capture_
  LogCapture capture_{};
  std::atomic<bool> log_ends_ = false, log_ended_ = false, log_completes_ = false;
  std::jthread log_thread_{};
};

}  // namespace workflow_run_detail

std::expected<WorkflowResults, WorkflowFailure> run_on_server(const EvaluationRequest& request, std::string_view id,
                                                              const WorkflowOptions& options,
                                                              const WorkflowWatch& watch) {
  return workflow_run_detail::Run(request, id, options, watch).run();
}

}  // namespace stackgate::evaluator
