// What the gate publishes about each review: one log line and the counters behind /metrics.
#pragma once
#include <chrono>
#include <cstdint>
#include <string_view>

#include "services/kit/metrics/registry.hpp"
#include "webhook/admit.hpp"

namespace stackgate::webhook {

enum class Refusal : std::uint8_t { not_found, method, media_type, not_json, not_a_review, too_busy, internal };
std::string_view to_string(Refusal refusal);

/// Thread-safe. One per process: the metric names are unique in a registry.
class GateMetrics {
 public:
  explicit GateMetrics(metrics::Registry& registry);

  /// After the answer was made. `asked`: whether the API server had to be asked about references.
  void reviewed(Stage stage, const ReviewRequest& request, const Verdict& verdict, bool asked,
                std::chrono::nanoseconds took);
  /// A request that got no verdict. `uid` may be empty.
  void refused(Refusal why, std::string_view uid, std::string_view detail);

 private:
  metrics::Family<metrics::Counter>& reviews_;
  metrics::Family<metrics::Counter>& findings_;
  metrics::Family<metrics::Histogram>& seconds_;
  metrics::Family<metrics::Counter>& refused_;
};

}  // namespace stackgate::webhook
