// What dashboards read of customizations. Thread-safe.
#pragma once
#include <string_view>

#include "services/customizer/job/customization.hpp"
#include "services/customizer/records/records.hpp"
#include "services/kit/metrics/registry.hpp"

namespace stackgate::customizer {

class RunMetrics {
 public:
  explicit RunMetrics(metrics::Registry& registry);
  /// States that are not final, counted at each scrape; `records` must outlive the registry's readers.
  void show_open(metrics::Registry& registry, const Records& records) const;
  /// A step that was stored: stages and customizations that have ended by it.
  void stepped(const Customization& before, const Customization& after);
  void looked() { looks_.add(); }
  /// `outcome`: counted, refused, unknown.
  void reported(std::string_view outcome) { reports_.at({outcome}).add(); }
  void failed_call(std::string_view of) { failures_.at({of}).add(); }

 private:
  metrics::Family<metrics::Counter>& ended_;
  metrics::Family<metrics::Histogram>& stage_seconds_;
  metrics::Family<metrics::Counter>& attempts_;
  metrics::Counter& looks_;
  metrics::Family<metrics::Counter>& reports_;
  metrics::Family<metrics::Counter>& failures_;
};

}  // namespace stackgate::customizer
