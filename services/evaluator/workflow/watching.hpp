// The caller's functions, called one at a time from more than one thread.
#pragma once
#include <algorithm>
#include <mutex>
#include <string>
#include <string_view>
#include <utility>

#include "services/evaluator/workflow/run.hpp"

namespace stackgate::evaluator {

class Watching {
 public:
  explicit Watching(const WorkflowWatch& watch) : watch_(watch) {}

  /// Not twice in a row.
  void event(std::string message) {
    const std::scoped_lock lock(mutex_);
    if (!watch_.event || message == last_event_) return;
    watch_.event(message);
    last_event_ = std::move(message);
  }
  void log(std::string_view line) {
    const std::scoped_lock lock(mutex_);
    if (watch_.log) watch_.log(line);
  }
  void progress(double percent, std::string_view words) {
    const std::scoped_lock lock(mutex_);
    if (percent <= percent_) return;
    percent_ = percent;
    if (watch_.progress) watch_.progress(percent, words);
  }
  std::expected<StoredFiles, std::string> stored() {
    return watch_.stored ? watch_.stored() : std::expected<StoredFiles, std::string>(StoredFiles());
  }
  bool stop() {
    const std::scoped_lock lock(mutex_);
    stopped_ = stopped_ || (watch_.stop && watch_.stop());
    return stopped_;
  }
  bool leave() {
    const std::scoped_lock lock(mutex_);
    left_ = left_ || (watch_.leave && watch_.leave());
    return left_;
  }

 private:
  const WorkflowWatch& watch_;
  std::mutex mutex_;
  std::string last_event_{};
  double percent_ = 0;
  bool stopped_ = false, left_ = false;
};

/// The framework's results among its files: the last of lm_eval's, whose names have their time in them. "": none.
inline std::string results_in(const StoredFiles& files) {
  std::string out;
  for (const auto& [name, text] : files)
    if (name.starts_with("results") && name.ends_with(".json")) out = text;
  return out;
}

}  // namespace stackgate::evaluator
