// Warnings about what a resource waits for, given once it has been missing for a while. Secrets often come with their
// resource or just after it, and watches see them a moment late: a warning at once would mostly be a false alarm.
#pragma once
#include <chrono>
#include <functional>
#include <mutex>
#include <optional>
#include <string>
#include <unordered_map>

#include "reconcile/observe/key.hpp"
#include "reconcile/plan/plan.hpp"

namespace stackgate::reconcile {

/// The time since when something is missing stands in the stored condition ReferencesResolved: it survives restarts,
/// and a process that starts long after that warns no second time. Thread-safe.
class LateWarnings {
 public:
  static constexpr std::chrono::seconds patience{10};
  /// Beyond this it has been warned of, by this process or its predecessor.
  static constexpr std::chrono::seconds latest{60};

  using Record = std::function<void(const Resource& resource, const EventNote& note)>;
  /// Records plan.late_events when it is time. Returns in how long the resource has to be looked at for that.
  std::optional<std::chrono::seconds> warn(const Key& key, const Resource& resource, const Plan& plan,
                                           std::chrono::system_clock::time_point now, const Record& record);
  /// The resource goes, or has gone.
  void forget(const Key& key);

 private:
  std::mutex mutex_;
  std::unordered_map<Key, std::string, KeyHash> warned_;  // with what was missing since when
};

}  // namespace stackgate::reconcile
