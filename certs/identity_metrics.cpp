#include "certs/identity_metrics.hpp"

namespace stackgate::certs {

void add_identity_metrics(metrics::Registry& registry, const std::function<IdentityStatus()>& status) {
  registry.gauge_from("stackgate_certificate_not_after_timestamp_seconds",
                      "End of the served certificate chain, seconds since the epoch; 0 while there is none.", [status] {
                        const IdentityStatus now = status();
                        return now.serving ? static_cast<double>(std::chrono::system_clock::to_time_t(now.not_after))
                                           : 0.0;
                      });
  registry.counter_from("stackgate_certificate_reloads_total", "Certificates taken into use, the first one included.",
                        [status] { return static_cast<double>(status().reloads); });
  registry.counter_from("stackgate_certificate_reload_failures_total", "Certificates that were refused.",
                        [status] { return static_cast<double>(status().failures); });
}

}  // namespace stackgate::certs
