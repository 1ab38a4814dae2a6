// actions.py in processes of its own: its actions, filters and output parsers by name, limits, and a new process when
// one hangs or dies.
//
// The process: no environment of ours, no sockets (unless allowed), user `nobody` where we are root, bounded memory and
// CPU, one action at a time; killed when an action takes too long. What fails is a failed ActionResult, with the type
// of the exception and its line, and no value of the request.
#pragma once
#include <chrono>
#include <cstdint>
#include <expected>
#include <functional>
#include <memory>
#include <string>
#include <thread>
#include <vector>

#include "services/guardrail/python/protocol.hpp"
#include "services/kit/findings/finding.hpp"

namespace stackgate::guardrail {

struct PythonOptions {
  std::string python{"python3"};
  std::chrono::milliseconds timeout{10'000};  // of one action
  std::uint64_t memory = 512U << 20U;         // bytes of address space
  bool network = false;
  std::uint32_t processes = 2;  // actions at the same time
  std::size_t waiting = 1'000;  // beyond: failed at once
};

/// Why code cannot be loaded.
struct PythonFault {
  std::string message;
  std::string file{};  // "actions.py"; empty: it is not about a file
  std::uint32_t line = 0;
};

/// Of one configuration. Thread-safe; starts nothing before the first action. Its end waits for running actions, which
/// are killed; it may come on a thread of its own, when what an action calls back held it last.
class PythonActions {
 public:
  using Done = std::move_only_function<void(ActionResult)>;
  /// Asks the configuration's main model; blocks.
  using AskModel = std::function<std::expected<std::string, std::string>(const WorkerAsks&)>;

  /// `files`: names within the configuration ("actions.py", "config.py", "actions/prices.py"), which become modules.
  /// `shown`: what the configuration is called, in errors.
  PythonActions(std::vector<PythonFile> files, std::string shown, PythonOptions options, AskModel ask_model);
  ~PythonActions();
  PythonActions(const PythonActions&) = delete;
  PythonActions& operator=(const PythonActions&) = delete;

  /// Calls back once, on a thread of its own.
  void run(ActionRequest request, Done done);

  /// Calls `work` once, on a thread of its own, with the code's filters and parsers: 1,000 calls, which together may
  /// take as long as an action. nullptr: too many wait, or the server ends.
  void call(std::move_only_function<void(const CallCode* code)> work);

  /// Starts a process and asks what there is; blocks.
  std::expected<WorkerReady, PythonFault> list();

 private:
  class Worker;
  /// Without a worker: why it is refused.
  using Job = std::move_only_function<void(Worker* worker, std::string_view refused)>;
  struct Shared;
  void submit(Job job);
  static void serve(const std::shared_ptr<Shared>& shared);

  const std::shared_ptr<Shared> shared_;  // with its threads
  std::vector<std::thread> threads_{};    // guarded by its mutex
};

/// Loads the configuration's code in a process, which ends at once: what is wrong with it, and filters and parsers of
/// prompts that it does not register. Blocks, for as long as an action may take.
validate::Findings try_python(const Configuration& configuration, const PythonOptions& options);

}  // namespace stackgate::guardrail
