// What dashboards read of the rails. Thread-safe.
#pragma once
#include <chrono>
#include <memory>
#include <string_view>

#include "services/guardrail/dialog/turn.hpp"
#include "services/kit/metrics/registry.hpp"

namespace stackgate::guardrail {

class GuardrailMetrics {
 public:
  explicit GuardrailMetrics(metrics::Registry& registry);
  /// A turn that has ended after `whole`. Rails' names are those of configurations' files, so their number is bounded.
  void turn(const TurnResult& result, std::chrono::duration<double> whole);

 private:
  metrics::Family<metrics::Counter>& turns_;
  metrics::Family<metrics::Counter>& rails_;
  metrics::Family<metrics::Histogram>& rail_seconds_;
  metrics::Family<metrics::Histogram>& own_seconds_;
};

}  // namespace stackgate::guardrail
