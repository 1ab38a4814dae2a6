#include "services/guardrail/python/python_actions.hpp"

#include <algorithm>
#include <atomic>
#include <condition_variable>
#include <deque>
#include <mutex>
#include <utility>

#include <fmt/format.h>

#include "services/guardrail/python/worker_script.hpp"
#include "services/kit/jinja/to_json.hpp"
#include "services/kit/log/log.hpp"
#include "services/kit/subprocess/lines.hpp"
#include "services/kit/subprocess/process.hpp"

namespace stackgate::guardrail {

using subprocess::Process;
using Clock = std::chrono::steady_clock;

/// What its threads work with.
struct PythonActions::Shared {
  const std::vector<PythonFile> files;
  const std::string shown;
  const PythonOptions options;
  const AskModel ask_model;
  std::mutex mutex{};  // of what follows
  std::condition_variable changed{};
  std::deque<Job> jobs{};
  std::size_t idle = 0;
  std::atomic<bool> ending = false;
};

/// One process; used by one thread.
class PythonActions::Worker {
 public:
  explicit Worker(const Shared& owner) : owner_(owner) {}

  /// Nothing when it is there, or has been started.
  std::optional<PythonFault> start() {
    if (process_) return std::nullopt;
    auto started =
        Process::start({.arguments = {owner_.options.python, "-I", "-B", "-c", worker_script()},
                        .environment = {"PATH=/usr/local/bin:/usr/bin:/bin", "LANG=C.UTF-8", "HOME=/nonexistent"},
                        .directory = "/",
                        .limits = {.memory_bytes = owner_.options.memory, .file_bytes = 1U << 20U}});
    if (!started) return PythonFault{started.error().message};
    process_ = std::move(*started);
    lines_.clear();
    const WorkerStart first{owner_.files, owner_.options.network,
                            static_cast<std::uint32_t>(owner_.options.timeout.count() / 1'000 + 1)};
    WorkerLine answer = exchange(to_line(first));
    if (auto* ready = std::get_if<WorkerReady>(&answer)) {
      ready_ = std::move(*ready);
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
      out.error = fmt::format("the Python code of {} cannot be loaded: {}", owner_.shown, why->message);
      return out;
    }
    std::string line = to_line(request);
    for (;;) {
      WorkerLine answer = exchange(line);
      if (auto* asks = std::get_if<WorkerAsks>(&answer)) {
        line = to_line(owner_.ask_model ? owner_.ask_model(*asks) : std::unexpected("there is no model to ask"));
        continue;
      }
      if (auto* done = std::get_if<WorkerDone>(&answer)) return std::move(done->result);
      if (auto* fault = std::get_if<WorkerFault>(&answer)) out.error = std::move(fault->error);
      return out;
    }
  }

  /// A filter or parser; `until` ends all that belong together.
  std::expected<jinja::Value, std::string> call(const FunctionRequest& request, Clock::time_point until) {
    for (const jinja::Value& each : request.arguments.positional)
      if (each.weight() > jinja::most_json_weight || each.depth() > jinja::most_json_depth)
        return std::unexpected("its argument is too large");
    if (const auto why = start()) return std::unexpected("the Python code cannot be loaded: " + why->message);
    WorkerLine answer = exchange(to_line(request), until);
    while (std::holds_alternative<WorkerAsks>(answer))
      answer = exchange(to_line(std::unexpected("filters and output parsers ask no model")), until);
    if (auto* done = std::get_if<WorkerDone>(&answer)) return std::move(done->result.value);
    auto* fault = std::get_if<WorkerFault>(&answer);
    return std::unexpected(fault == nullptr ? "no answer" : std::move(fault->error));
  }

  const WorkerReady& ready() const { return ready_; }

 private:
  WorkerLine exchange(const std::string& line) { return exchange(line, Clock::now() + owner_.options.timeout); }

  /// Sends a line and reads one. A process that gives none in time, or too much, is killed.
  WorkerLine exchange(const std::string& line, Clock::time_point until) {
    std::optional<std::string> answer = take();
    if (answer) return abandon("the worker wrote without being asked");
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
        late = Clock::now() > until;
        return late || owner_.ending.load();
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
    log::warning("a process of actions.py was ended", {{"configuration", owner_.shown}, {"why", why}});
    return {std::move(why)};
  }

  const Shared& owner_;
  std::unique_ptr<Process> process_{};
  std::string lines_{};
  WorkerReady ready_{};
};

PythonActions::PythonActions(std::vector<PythonFile> files, std::string shown, PythonOptions options,
                             AskModel ask_model)
    : shared_(new Shared{std::move(files), std::move(shown), std::move(options), std::move(ask_model)}) {}

PythonActions::~PythonActions() {
  std::deque<Job> dropped;
  {
    const std::scoped_lock lock(shared_->mutex);
    shared_->ending = true;
    dropped.swap(shared_->jobs);
  }
  shared_->changed.notify_all();
  for (std::thread& each : threads_) {
    if (each.get_id() == std::this_thread::get_id())
      each.detach();  // what it works with is its own, too
    else
      each.join();
  }
  for (Job& job : dropped) job(nullptr, "the server ends");
}

void PythonActions::run(ActionRequest request, Done done) {
  submit([request = std::move(request), done = std::move(done)](Worker* worker, std::string_view refused) mutable {
    ActionResult result =
        worker == nullptr ? ActionResult{.failed = true, .error = std::string(refused)} : worker->run(request);
    result.id = request.id;
    done(std::move(result));
  });
}

void PythonActions::call(std::move_only_function<void(const CallCode* code)> work) {
  constexpr std::size_t most_calls = 1'000;
  submit([work = std::move(work), timeout = shared_->options.timeout](Worker* worker, std::string_view) mutable {
    if (worker == nullptr) return work(nullptr);
    std::size_t calls = 0;
    const CallCode code = [&, until = Clock::now() + timeout](
                              CodeFunction kind, std::string_view name,
                              const jinja::Arguments& arguments) -> std::expected<jinja::Value, std::string> {
      const std::string shown =
          fmt::format("the {} {}", kind == CodeFunction::filter ? "filter" : "output parser", name);
      if (++calls > most_calls) return std::unexpected(shown + ": more than 1,000 calls in one prompt");
      auto made = worker->call({kind, name, arguments}, until);
      if (!made) return std::unexpected(fmt::format("{}: {}", shown, made.error()));
      return made;
    };
    work(&code);
  });
}

void PythonActions::submit(Job job) {
  {
    Shared& all = *shared_;
    const std::scoped_lock lock(all.mutex);
    if (!all.ending && all.jobs.size() < all.options.waiting) {
      if (all.idle <= all.jobs.size() && threads_.size() < all.options.processes)
        threads_.emplace_back([shared = shared_] { serve(shared); });
      all.jobs.push_back(std::move(job));
      all.changed.notify_one();
      return;
    }
  }
  job(nullptr, "too many actions of actions.py wait");
}

void PythonActions::serve(const std::shared_ptr<Shared>& shared) {
  Worker worker(*shared);
  std::unique_lock lock(shared->mutex);
  for (;;) {
    ++shared->idle;
    shared->changed.wait(lock, [&] { return shared->ending || !shared->jobs.empty(); });
    --shared->idle;
    if (shared->ending) return;
    Job job = std::move(shared->jobs.front());
    shared->jobs.pop_front();
    lock.unlock();
    job(&worker, {});
    job = nullptr;
    lock.lock();
  }
}

std::expected<WorkerReady, PythonFault> PythonActions::list() {
  Worker worker(*shared_);
  if (auto why = worker.start()) return std::unexpected(std::move(*why));
  return worker.ready();
}

namespace {

bool holds(const std::vector<std::string>& names, const std::string& name) {
  return std::ranges::find(names, name) != names.end();
}

/// Names that the text of the code promises, or leaves open.
validate::Findings unregistered(const Configuration& configuration, const WorkerReady& ready, const std::string& path) {
  validate::Findings out;
  const auto add = [&](const Prompt& prompt, std::string_view kind, const std::string& name) {
    out.push_back({.rule = "guardrail-python",
                   .path = path,
                   .problem = fmt::format("init(app) registers no {} \"{}\", which the prompt of {} uses", kind, name,
                                          prompt.task),
                   .fix = fmt::format("call app.register_{}(function, \"{}\") in it",
                                      kind == "filter" ? "filter" : "output_parser", name)});
  };
  for (const Prompt& prompt : configuration.prompts.prompts) {
    for (const std::string& each : prompt.code_filters())
      if (each != "map" && !holds(ready.filters, each)) add(prompt, "filter", each);
    if (prompt.parsed_by_code && !holds(ready.parsers, prompt.output_parser))
      add(prompt, "output parser", prompt.output_parser);
  }
  return out;
}

}  // namespace

validate::Findings try_python(const Configuration& configuration, const PythonOptions& options) {
  if (configuration.python_files.empty() || !configuration.actions_server_url.empty() || options.python.empty())
    return {};
  PythonActions actions(configuration.python_files, configuration.id, options,
                        [](const WorkerAsks&) { return std::unexpected("no model is asked while code is loaded"); });
  const auto listed = actions.list();
  const auto shown = [&](std::string_view name) {
    const auto found = std::ranges::find(*configuration.files, name, &File::name);
    return found == configuration.files->end() ? configuration.id : found->shown;
  };
  const std::string& first = configuration.python_files.front().name;
  if (listed) return unregistered(configuration, *listed, shown(first));
  const PythonFault& fault = listed.error();
  std::string path = shown(fault.file.empty() ? first : fault.file);
  if (fault.line > 0) path += fmt::format(":{}:1", fault.line);
  return {{.rule = "guardrail-python",
           .path = std::move(path),
           .problem = "cannot be loaded: " + fault.message,
           .fix = "correct it; what it imports must be installed where the server runs"}};
}

}  // namespace stackgate::guardrail
