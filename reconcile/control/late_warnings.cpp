#include "reconcile/control/late_warnings.hpp"

#include "reconcile/plan/findings.hpp"
#include "reconcile/status/read.hpp"
#include "reconcile/status/time.hpp"

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

std::optional<std::chrono::seconds> LateWarnings::tell(const Key& key, const Resource& resource, const Plan& plan,
                                                       std::chrono::system_clock::time_point now,
                                                       const Record& record) {
  {
    const std::scoped_lock lock(mutex_);
    if (plan.late_events.empty()) {
      told_.erase(key);
      return std::nullopt;
    }
  }
  const std::string_view since = missing_since(resource);
  const auto began = seconds_of(since);
  if (!began) return patience + std::chrono::seconds(1);  // times are stored in whole seconds
  const auto age = std::chrono::floor<std::chrono::seconds>(now.time_since_epoch()) - std::chrono::seconds(*began);
  if (age < patience) return patience - age + std::chrono::seconds(1);
  if (age >= latest) return std::nullopt;
  {
    const std::scoped_lock lock(mutex_);
    std::string& told = told_[key];
    if (told == since) return std::nullopt;
    told = since;
  }
  for (const EventNote& each : plan.late_events) record(resource, each);
  return std::nullopt;
}

}  // namespace stackgate::reconcile
