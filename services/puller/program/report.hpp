// Tells how far a pull is: lines on standard output, a bar on a terminal, the ConfigMap that the operator reads, the
// container's termination message. What cannot be reported never stops a pull. For one thread.
#pragma once
#include <chrono>
#include <memory>
#include <optional>
#include <string>

#include "services/kit/kube/client.hpp"
#include "services/puller/plan/progress.hpp"

namespace stackgate::puller {

struct ReportSettings {
  std::string config_map{};  // empty: none
  std::string ns{}, kubeconfig{}, termination_log{};
};

/// A container's termination message: what `kubectl describe` and the customizer show of its end. No such file:
/// nothing.
void write_last_words(const std::string& termination_log, const std::string& text);

class Report {
 public:
  explicit Report(ReportSettings settings);
  /// Now and then; it decides what is due, and does not wait.
  void tick(const Progress& progress);
  /// The last words; waits a few seconds for the API server at most.
  void end(const Progress& progress, const std::optional<Failure>& failure, const std::optional<Pulled>& pulled);

 private:
  using Clock = std::chrono::steady_clock;
  void show(const Progress& progress, Clock::time_point now);
  void send(const Progress& progress);
  void warn_once(const std::string& why);

  ReportSettings settings_;
  bool terminal_;
  std::unique_ptr<kube::Client> client_;  // empty: nobody to tell
  std::optional<kube::Pending> pending_;
  std::string sent_;
  bool warned_ = false;
  Clock::time_point shown_{}, reported_{};
  std::uint64_t shown_bytes_ = 0;
};

}  // namespace stackgate::puller
