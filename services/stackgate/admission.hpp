// The gate as a part of a process: identity, handler, TLS server.
#pragma once
#include <expected>
#include <functional>
#include <memory>

#include "certs/file_identity.hpp"
#include "cluster_state/lookup.hpp"
#include "services/kit/base/error.hpp"
#include "services/kit/http/server.hpp"
#include "services/kit/kube/client.hpp"
#include "services/kit/metrics/registry.hpp"
#include "services/kit/run/pool.hpp"
#include "services/kit/run/readiness.hpp"
#include "services/kit/run/stop.hpp"
#include "services/kit/telemetry/telemetry.hpp"
#include "services/stackgate/serve_options.hpp"
#include "webhook/gate.hpp"
#include "webhook/gate_metrics.hpp"

namespace stackgate {

class Admission {
 public:
  /// Serves from now on. `client` and `lookup` are nullptr without a cluster; what is referred to must outlive this.
  static std::expected<std::unique_ptr<Admission>, Error> start(const GateOptions& options, kube::Client* client,
                                                                cluster::ClusterLookup* lookup,
                                                                metrics::Registry& registry, run::Readiness& readiness,
                                                                telemetry::Telemetry& telemetry);
  ~Admission();
  /// After the first signal: unready, the drain time, in-flight reviews answered. Its metrics may still be asked.
  void stop(run::StopSignals& signals, run::Readiness& readiness, const GateOptions& options);

 private:
  Admission(const GateOptions& options, cluster::ClusterLookup* lookup, metrics::Registry& registry);

  webhook::GateMetrics metrics_;
  std::shared_ptr<http::TlsSource> identity_;
  std::unique_ptr<run::Pool> pool_;
  webhook::Gate gate_;
  std::unique_ptr<http::Server> server_;  // ends first: it uses the gate
};

/// The lookup's counters and what it holds.
void add_lookup_metrics(metrics::Registry& registry, const cluster::State& state, const cluster::ClusterLookup& lookup);

}  // namespace stackgate
