#include "reconcile/control/late_warnings.hpp"

#include "reconcile/plan/findings.hpp"
#include "services/kit/base/time.hpp"
#include "services/kit/json/read.hpp"

namespace stackgate::reconcile {
std::optional<std::chrono::seconds> LateWarnings::warn(const Key& key, const Resource& resource, const Plan& plan,
                                                       std::chrono::system_clock::time_point now,
                                                       const Record& record) {
  if (plan.late_events.empty()) {
    forget(key);
    return std::nullopt;
  }
  const json::Value* missing = condition_in(resource.status, references_condition);
  const std::string_view since = json::text(missing, {"lastTransitionTime"});
  const auto began = from_rfc3339(since);
  if (!began || json::text(missing, {"status"}) != "False")
    return patience + std::chrono::seconds(1);  // times are stored in whole seconds
  const auto age = std::chrono::floor<std::chrono::seconds>(now.time_since_epoch()) - began->time_since_epoch();
  if (age < patience) return patience - age + std::chrono::seconds(1);
  if (age >= latest) return std::nullopt;
  {
    const std::scoped_lock lock(mutex_);
    std::string& warned = warned_[key];
    if (warned == since) return std::nullopt;
    warned = since;
  }
  for (const EventNote& each : plan.late_events) record(resource, each);
  return std::nullopt;
}

void LateWarnings::forget(const Key& key) {
  const std::scoped_lock lock(mutex_);
  warned_.erase(key);
}

}  // namespace stackgate::reconcile
