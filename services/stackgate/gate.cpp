// `stackgate gate`: wiring only. Every part is made here, in the order in which it is needed, and ends in reverse.
#include <memory>

#include <fmt/format.h>

#include "cluster_state/watch_rights.hpp"
#include "services/kit/run/metrics.hpp"
#include "services/kit/run/stop.hpp"
#include "services/stackgate/admission.hpp"
#include "services/stackgate/process.hpp"
#include "services/stackgate/serve_options.hpp"

namespace stackgate {

int run_gate(const GateOptions& options) {
  run::StopSignals signals;  // before any thread: threads inherit the signal mask
  configure_process(options);
  metrics::Registry registry;
  run::add_process_metrics(registry);
  run::Readiness readiness;
  Endpoints endpoints(options, registry);

  std::unique_ptr<kube::Client> client;
  std::unique_ptr<cluster::State> state;
  std::unique_ptr<cluster::ClusterLookup> lookup;
  std::unique_ptr<kube::SharedWatches> watches;
  std::unique_ptr<cluster::WatchRights> rights;
  if (!options.no_cluster) {
    auto connected = connect(options, "gate");
    if (!connected)
      return fail("gate",
                  fmt::format("{}\n  (--no-cluster runs the gate without reference rules)", connected.error().message));
    client = std::move(*connected);
    watches = std::make_unique<kube::SharedWatches>(client->transport(), options.namespaces);
    state = std::make_unique<cluster::State>(cluster::State::Contents::no);
    state->subscribe(*watches);
    lookup = std::make_unique<cluster::ClusterLookup>(*client, *state);
    watches->start();
    add_lookup_metrics(registry, *state, *lookup);
    add_watch_metrics(registry, *watches);
    readiness.add("caches", [&known = *state, &seen = *watches] {
      return known.synced() ? std::string() : kube::first_lists_problem(seen.report());
    });
    add_watch_warning(readiness, *watches);
    rights = std::make_unique<cluster::WatchRights>(*watches, registry, cluster::Watchers{.gate = true});
    readiness.add_warning("rights", [&held = *rights] { return held.problem(); });
  }

  const auto admission =
      Admission::start(options, client.get(), lookup.get(), registry, readiness, endpoints.telemetry());
  const EndpointsEnd endpoints_end{endpoints};
  if (!admission) return fail("gate", admission.error().message);
  if (auto served = endpoints.serve(readiness); !served) return fail("gate", served.error().message);

  signals.wait();
  (*admission)->stop(signals, readiness, options);
  return 0;
}

}  // namespace stackgate
