// Runs Python programs that models wrote, shut in: no network, no other processes, no file but Python's own and a
// scratch folder in memory, bounded time, CPU and memory. A program is not run where that cannot be had.
#pragma once
#include <chrono>
#include <condition_variable>
#include <cstdint>
#include <expected>
#include <functional>
#include <mutex>
#include <string>
#include <string_view>
#include <vector>

namespace stackgate::evaluator {

struct SandboxOptions {
  std::string python{"python3"};
  std::chrono::seconds timeout{10};    // of one program, from its start to its end
  std::uint64_t memory = 512U << 20U;  // bytes of address space
  std::uint64_t scratch = 16U << 20U;  // bytes of /tmp, which only namespaces have
  unsigned at_once = 2;                // programs; others wait
  /// What shuts programs in, the better first; the first one that the kernel allows is taken.
  std::vector<std::string> layers{"namespaces", "landlock"};
};

struct ProgramOutcome {
  bool passed = false;   // it ran to its end
  std::string reason{};  // it did not: "AssertionError at line 12", "took longer than 10 seconds"
};

/// {"passed", "reason"}: what Whom::runner answers.
std::string to_json(const ProgramOutcome& outcome);

/// Thread-safe; calls block.
class Sandbox {
 public:
  explicit Sandbox(SandboxOptions options) : options_(std::move(options)) {}

  /// The error: it was not run at all, since nothing can shut it in here or Python is not there; or stopped, which is
  /// asked twice a second. Whatever the end, all its processes have been killed.
  std::expected<ProgramOutcome, std::string> run(std::string_view program, const std::function<bool()>& stop = {});
  /// Whether programs can be run here: runs one. Before the first question of a job.
  std::expected<void, std::string> check();

 private:
  const SandboxOptions options_;
  std::mutex mutex_;
  std::condition_variable changed_;
  unsigned running_ = 0;
};

}  // namespace stackgate::evaluator
