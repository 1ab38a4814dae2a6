#include "services/stackgate/watching.hpp"

namespace stackgate {

void add_watch_metrics(metrics::Registry& registry, const kube::SharedWatches& watches) {
  const auto sum = [&](const char* name, const char* help, std::uint64_t kube::WatchCounts::* member) {
    registry.counter_from(name, help, [&watches, member] {
      double out = 0;
      for (const kube::WatchReport& each : watches.report()) out += static_cast<double>(each.health.counts.*member);
      return out;
    });
  };
  sum("stackgate_watch_lists_total", "Lists that watches began with.", &kube::WatchCounts::lists);
  sum("stackgate_watch_starts_total", "Watches begun, again ones included.", &kube::WatchCounts::watches);
  sum("stackgate_watch_events_total", "Events received.", &kube::WatchCounts::events);
  sum("stackgate_watch_expired_total", "Watches that had to list again (410).", &kube::WatchCounts::expired);
  sum("stackgate_watch_failures_total", "Lists and watches that failed, but for types that are not installed.",
      &kube::WatchCounts::failures);
  registry.gauge_from("stackgate_watch_disconnected_seconds",
                      "For how long no watch has reached the API server; 0 while one does, also when nothing changes.",
                      [&watches] { return watches.contact().lost_for().count(); });
}

void add_watch_warning(run::Readiness& readiness, const kube::SharedWatches& watches) {
  readiness.add_warning("watches", [&watches] { return watches.contact().problem(); });
}

}  // namespace stackgate
