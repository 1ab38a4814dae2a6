// What `stackgate gate` and `stackgate operator` have in common: a client, the plain HTTP servers beside the gate, and
// what is shown of the watches.
#pragma once
#include <expected>
#include <memory>
#include <string_view>

#include "services/kit/base/error.hpp"
#include "services/kit/http/server.hpp"
#include "services/kit/kube/client.hpp"
#include "services/kit/kube/shared_watches.hpp"
#include "services/kit/metrics/registry.hpp"
#include "services/kit/run/readiness.hpp"
#include "services/kit/telemetry/telemetry.hpp"
#include "services/stackgate/serve_options.hpp"

namespace stackgate {

/// Log, signal mask and limits of a process that serves. First thing it does, before any thread.
void configure_process(const GateOptions& options);

/// Nothing is sent yet; what is odd about the configuration is logged. `command` goes into the user agent.
std::expected<std::unique_ptr<kube::Client>, Error> connect(const GateOptions& options, std::string_view command,
                                                            const kube::ClientOptions& client_options = {});

/// What others see of a process: /healthz and /readyz, /metrics, and what is exported by OTLP. Either address may be
/// empty, then nothing is served there.
class Endpoints {
 public:
  /// Exports from now on. `registry` and what it asks must outlive this, or its end().
  Endpoints(const GateOptions& options, metrics::Registry& registry);
  /// `readiness` likewise.
  std::expected<void, Error> serve(const run::Readiness& readiness);
  telemetry::Telemetry& telemetry() { return *telemetry_; }
  /// Nothing is asked any more; what waits is exported, within 5 s. Once.
  void end();

 private:
  const GateOptions& options_;
  metrics::Registry& registry_;
  std::unique_ptr<telemetry::Telemetry> telemetry_;
  std::unique_ptr<http::Server> health_, metrics_;
};

/// Declared after what metrics and readiness ask, so that nobody asks for what is gone.
struct EndpointsEnd {
  Endpoints& endpoints;
  ~EndpointsEnd() { endpoints.end(); }
};

/// "stackgate gate: message" on standard error; the exit status.
int fail(std::string_view command, std::string_view message);

/// stackgate_watch_…; `watches` must outlive the registry's last render().
void add_watch_metrics(metrics::Registry& registry, const kube::SharedWatches& watches);

/// The warning "watches", while the API server does not answer; `watches` must outlive the last report().
void add_watch_warning(run::Readiness& readiness, const kube::SharedWatches& watches);

}  // namespace stackgate
