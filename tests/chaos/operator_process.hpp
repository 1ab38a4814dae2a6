// `stackgate operator` as a child process that can be killed at any moment and started again.
#pragma once
#include <mutex>
#include <string>
#include <vector>

#include <sys/types.h>

namespace stackgate::chaos {

/// Thread-safe.
class OperatorProcess {
 public:
  /// Both outputs are appended to the file `log`.
  OperatorProcess(std::vector<std::string> command, std::string log)
      : command_(std::move(command)), log_(std::move(log)) {}
  /// SIGKILL
  ~OperatorProcess() { kill(); }
  OperatorProcess(const OperatorProcess&) = delete;
  OperatorProcess& operator=(const OperatorProcess&) = delete;

  void start();  // throws
  /// SIGKILL; returns when it is gone.
  void kill();
  /// Whether it ended without being asked to.
  bool has_ended() const;
  bool is_running() const;
  double resident_mib() const;

 private:
  const std::vector<std::string> command_;
  const std::string log_;
  mutable std::mutex mutex_;
  pid_t pid_ = -1;
};

}  // namespace stackgate::chaos
