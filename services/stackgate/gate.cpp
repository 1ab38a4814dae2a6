// `stackgate gate`: wiring only. Every part is made here, in the order in which it is needed, and ends in reverse.
#include <memory>

#include <fmt/format.h>

#include "services/kit/run/metrics.hpp"
#include "services/kit/run/stop.hpp"
#include "services/stackgate/admission.hpp"
#include "services/stackgate/gate_options.hpp"
#include "services/stackgate/process.hpp"
#include "services/stackgate/watching.hpp"
#include "webhook/watch_rights.hpp"

namespace stackgate {

int run_gate(const GateOptions& options) {
  run::StopSignals signals;  // before any thread: threads inherit the signal mask
  configure_process(options);
  metrics::Registry registry;
  run::add_process_metrics(registry);
  run::Readiness readiness;

  std::unique_ptr<kube::Client> client;
  std::unique_ptr<webhook::ClusterLookup> lookup;
  std::unique_ptr<kube::SharedWatches> watches;
  std::unique_ptr<webhook::WatchRights> rights;
  if (!options.no_cluster) {
    auto connected = connect(options, "gate");
    if (!connected)
      return fail("gate",
                  fmt::format("{}\n  (--no-cluster runs the gate without reference rules)", connected.error().message));
    client = std::move(*connected);
    watches = std::make_unique<kube::SharedWatches>(client->transport(), options.namespaces);
    lookup = std::make_unique<webhook::ClusterLookup>(*client, *watches);
    watches->start();
    add_lookup_metrics(registry, *lookup);
    add_watch_metrics(registry, *watches);
    readiness.add("caches", [&cache = *lookup, &seen = *watches] {
      return cache.synced() ? std::string() : kube::first_lists_problem(seen.report());
    });
    add_watch_warning(readiness, *watches);
    rights = std::make_unique<webhook::WatchRights>(*watches, registry, webhook::Watchers{.gate = true});
    readiness.add_warning("rights", [&held = *rights] { return held.problem(); });
  }

  auto admission = Admission::start(options, client.get(), lookup.get(), registry, readiness);
  if (!admission) return fail("gate", admission.error().message);
  auto endpoints = start_endpoints(options, readiness, run::metrics_handler(registry));
  if (!endpoints) return fail("gate", endpoints.error().message);

  signals.wait();
  (*admission)->stop(signals, readiness, options);
  return 0;
}

}  // namespace stackgate
