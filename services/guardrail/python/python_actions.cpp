#include "services/guardrail/python/python_actions.hpp"

#include <utility>

#include <fmt/format.h>

#include "services/guardrail/python/worker_script.hpp"
#include "services/kit/log/log.hpp"
#include "services/kit/subprocess/lines.hpp"
#include "services/kit/subprocess/process.hpp"

namespace stackgate::guardrail {

using subprocess::Process;

/// One process; used by one thread.
class PythonActions::Worker {
 public:
  explicit Worker(const PythonActions& owner) : owner_(owner) {}

  /// Nothing when it is there, or has been started.
  std::optional<PythonFault> start() {
    if (process_) return std::nullopt;
    auto started =
        Process::start({.arguments = {owner_.options_.python, "-I", "-B", "-c", worker_script()},
                        .environment = {"PATH=/usr/local/bin:/usr/bin:/bin", "LANG=C.UTF-8", "HOME=/nonexistent"},
                        .directory = "/",
                        .limits = {.memory_bytes = owner_.options_.memory, .file_bytes = 1U << 20U}});
    if (!started) return PythonFault{started.error().message};
    process_ = std::move(*started);
    lines_.clear();
    const WorkerStart first{owner_.files_, owner_.options_.network,
                            static_cast<std::uint32_t>(owner_.options_.timeout.count() / 1'000 + 1)};
    WorkerLine answer = exchange(to_line(first));
    if (const auto* ready = std::get_if<WorkerReady>(&answer)) {
      actions_ = ready->actions;
      return std::nullopt;
    }
    process_.reset();
    auto* fault = std::get_if<WorkerFault>(&answer);
    if (fault == nullptr) return PythonFault{"no answer"};
    return PythonFault{std::move(fault->error), std::move(fault->file), fault->line};
  }

  ActionResult run(const ActionRequest& request) {
    ActionResult out{.failed = true};
    if (const auto why = start()) {
      out.error = fmt::format("the Python code of {} cannot be loaded: {}", owner_.shown_, why->message);
      return out;
    }
    std::string line = to_line(request);
    for (;;) {
      WorkerLine answer = exchange(line);
      if (auto* asks = std::get_if<WorkerAsks>(&answer)) {
        line = to_line(owner_.ask_model_ ? owner_.ask_model_(*asks) : std::unexpected("there is no model to ask"));
        continue;
      }
      if (auto* done = std::get_if<WorkerDone>(&answer)) return std::move(done->result);
      if (auto* fault = std::get_if<WorkerFault>(&answer)) out.error = std::move(fault->error);
      return out;
    }
  }

  const std::vector<std::string>& actions() const { return actions_; }

 private:
  /// Sends a line and reads one. A process that gives none in time, or too much, is killed.
  WorkerLine exchange(const std::string& line) {
    std::optional<std::string> answer = take();
    if (answer) return abandon("the worker wrote without being asked");
    const auto until = std::chrono::steady_clock::now() + owner_.options_.timeout;
    const auto output = [&](std::string_view piece) {
      lines_ += piece;
      return lines_.size() <= longest_worker_line && !lines_.contains('\n');
    };
    bool late = false;
    process_->feed(line, [&](std::string_view piece) {
      lines_ += piece;
      return lines_.size() <= longest_worker_line;
    });
    if (!lines_.contains('\n'))
      process_->drain(output, [&] {
        late = std::chrono::steady_clock::now() > until;
        return late || owner_.ending_.load();
      });
    answer = take();
    if (!answer) return abandon(late ? "it took too long and was ended" : "its process ended");
    return read_worker_line(*answer);
  }

  std::optional<std::string> take() {
    const std::size_t end = lines_.find('\n');
    if (end == std::string::npos) return std::nullopt;
    std::string out = lines_.substr(0, end);
    lines_.erase(0, end + 1);
    return out;
  }

  WorkerFault abandon(std::string why) {
    process_->end(std::chrono::milliseconds(0));
    process_.reset();
    log::warning("a process of actions.py was ended", {{"configuration", owner_.shown_}, {"why", why}});
    return {std::move(why)};
  }

  const PythonActions& owner_;
  std::unique_ptr<Process> process_{};
  std::string lines_{};
  std::vector<std::string> actions_{};
};

PythonActions::PythonActions(std::vector<PythonFile> files, std::string shown, PythonOptions options,
                             AskModel ask_model)
    : files_(std::move(files)),
      shown_(std::move(shown)),
      options_(std::move(options)),
      ask_model_(std::move(ask_model)) {}

PythonActions::~PythonActions() {
  std::deque<Job> dropped;
  {
    const std::scoped_lock lock(mutex_);
    ending_ = true;
    dropped.swap(jobs_);
  }
  changed_.notify_all();
  for (std::thread& each : threads_) each.join();
  for (Job& job : dropped) job.done({.id = job.request.id, .failed = true, .error = "the server ends"});
}

void PythonActions::run(ActionRequest request, Done done) {
  {
    const std::scoped_lock lock(mutex_);
    if (!ending_ && jobs_.size() < options_.waiting) {
      if (idle_ <= jobs_.size() && threads_.size() < options_.processes) threads_.emplace_back([this] { serve(); });
      jobs_.push_back({std::move(request), std::move(done)});
      changed_.notify_one();
      return;
    }
  }
  done({.id = request.id, .failed = true, .error = "too many actions of actions.py wait"});
}

void PythonActions::serve() {
  Worker worker(*this);
  std::unique_lock lock(mutex_);
  for (;;) {
    ++idle_;
    changed_.wait(lock, [this] { return ending_ || !jobs_.empty(); });
    --idle_;
    if (ending_) return;
    Job job = std::move(jobs_.front());
    jobs_.pop_front();
    lock.unlock();
    ActionResult result = worker.run(job.request);
    result.id = job.request.id;
    job.done(std::move(result));
    lock.lock();
  }
}

std::expected<std::vector<std::string>, PythonFault> PythonActions::list() {
  Worker worker(*this);
  if (auto why = worker.start()) return std::unexpected(std::move(*why));
  return worker.actions();
}

std::optional<validate::Finding> try_python(const Configuration& configuration, const PythonOptions& options) {
  if (configuration.python_files.empty() || !configuration.actions_server_url.empty() || options.python.empty())
    return std::nullopt;
  PythonActions actions(configuration.python_files, configuration.id, options,
                        [](const WorkerAsks&) { return std::unexpected("no model is asked while code is loaded"); });
  const auto listed = actions.list();
  if (listed) return std::nullopt;
  const PythonFault& fault = listed.error();
  std::string path = configuration.id;
  for (const File& each : *configuration.files)
    if (each.name == (fault.file.empty() ? configuration.python_files.front().name : fault.file)) path = each.shown;
  if (fault.line > 0) path += fmt::format(":{}:1", fault.line);
  return validate::Finding{.rule = "guardrail-python",
                           .path = std::move(path),
                           .problem = "cannot be loaded: " + fault.message,
                           .fix = "correct it; what it imports must be installed where the server runs"};
}

}  // namespace stackgate::guardrail
