// An identity's state on /metrics.
#pragma once
#include <functional>

#include "certs/file_identity.hpp"
#include "services/kit/metrics/registry.hpp"

namespace stackgate::certs {

/// stackgate_certificate_{not_after_timestamp_seconds,reloads_total,reload_failures_total}; `status` is asked at each
/// scrape.
void add_identity_metrics(metrics::Registry& registry, const std::function<IdentityStatus()>& status);

}  // namespace stackgate::certs
