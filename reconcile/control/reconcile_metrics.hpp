// What the reconciler shows on /metrics.
#pragma once
#include <array>
#include <chrono>

#include "crds/kinds.hpp"
#include "reconcile/control/reconciler.hpp"
#include "reconcile/observe/store.hpp"
#include "services/kit/metrics/registry.hpp"

namespace stackgate::reconcile {

/// Thread-safe.
class ReconcileMetrics {
 public:
  /// `registry` must outlive it.
  explicit ReconcileMetrics(metrics::Registry& registry);

  void observe(crds::Kind kind, const Pass& pass, std::chrono::steady_clock::duration took);
  /// Sets the eight gauges <kind>_status_total: every state of a kind is there, with 0 if need be; resources without a
  /// status count as Unknown. To be called before each scrape.
  void count_states(const Store& store);

 private:
  metrics::Family<metrics::Counter>&passes_, &errors_, &writes_, &repairs_;
  metrics::Family<metrics::Histogram>& seconds_;
  std::array<metrics::Family<metrics::Gauge>*, 8> states_{};
};

}  // namespace stackgate::reconcile
