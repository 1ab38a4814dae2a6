// What a process with watches shows of them: metrics and readiness.
#pragma once
#include "services/kit/kube/shared_watches.hpp"
#include "services/kit/metrics/registry.hpp"
#include "services/kit/run/readiness.hpp"

namespace stackgate {

/// stackgate_watch_…; `watches` must outlive the registry's last render().
void add_watch_metrics(metrics::Registry& registry, const kube::SharedWatches& watches);

/// The warning "watches", while the API server does not answer; `watches` must outlive the last report().
void add_watch_warning(run::Readiness& readiness, const kube::SharedWatches& watches);

}  // namespace stackgate
