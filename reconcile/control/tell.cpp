#include "reconcile/control/tell.hpp"

#include <algorithm>

#include "services/kit/log/log.hpp"

namespace stackgate::reconcile {

void tell_child(const Key& key, std::string_view what, std::string_view kind, std::string_view name,
                std::string_view why, bool drift) {
  (drift ? log::info : log::debug)(what, {{"resource", to_string(key)}, {"kind", kind}, {"name", name}, {"why", why}});
}

void tell_status(const Key& key, std::string_view was, const Status& status) {
  const auto ready = std::ranges::find(status.conditions, "Ready", &Condition::type);
  const bool has_reason = ready != status.conditions.end();
  log::info("status", {{"resource", to_string(key)},
                       {"state", to_string(status.state)},
                       {"was", was},
                       {"reason", has_reason ? std::string_view(ready->reason) : std::string_view{}},
                       {"why", has_reason ? std::string_view(ready->message) : std::string_view{}}});
}

}  // namespace stackgate::reconcile
