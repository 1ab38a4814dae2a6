#include "reconcile/control/late_warnings.hpp"

#include "reconcile/plan/findings.hpp"
#include "reconcile/status/read.hpp"
#include "services/kit/base/time.hpp"

namespace stackgate::reconcile {
namespace {

/// Empty when the stored status does not say so yet.
std::string_view missing_since(const Resource& resource) {
  for (const json::Value& each : read::items(resource.status, {"conditions"}))
    if (read::text(&each, {"type"}) == references_condition && read::text(&each, {"status"}) == "False")
      return read::text(&each, {"lastTransitionTime"});
  return {};
}

}  // namespace

std::optional<std::chrono::seconds> LateWarnings::warn(const Key& key, const Resource& resource, const Plan& plan,
                                                       std::chrono::system_clock::time_point now,
                                                       const Record& record) {
  if (plan.late_events.empty()) {
    forget(key);
    return std::nullopt;
  }
  const std::string_view since = missing_since(resource);
  const auto began = from_rfc3339(since);
  if (!began) return patience + std::chrono::seconds(1);  // times are stored in whole seconds
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
