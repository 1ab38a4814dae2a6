#include "services/stackgate/admission.hpp"

#include "certs/file_identity.hpp"
#include "certs/self_managed.hpp"
#include "services/kit/base/try.hpp"
#include "services/kit/log/log.hpp"
#include "services/kit/run/metrics.hpp"
#include "services/kit/run/startup.hpp"
#include "services/kit/telemetry/traced_handler.hpp"

namespace stackgate {
namespace {

/// For the metrics and the readiness, which outlive what the identity uses: it ends with its Admission.
template <class Identity>
std::function<certs::IdentityStatus()> status_of(const std::shared_ptr<Identity>& identity) {
  return [weak = std::weak_ptr(identity)] {
    const auto held = weak.lock();
    return held ? held->status() : certs::IdentityStatus{};
  };
}

// Reviews that wait for the API server: more threads than it would serve us at once gain nothing.
constexpr unsigned asking_threads = 8;
constexpr std::size_t asking_queue = 256;

}  // namespace

Admission::Admission(const GateOptions& options, cluster::ClusterLookup* lookup, metrics::Registry& registry)
    : metrics_(registry),
      pool_(lookup == nullptr ? nullptr : std::make_unique<run::Pool>(asking_threads, asking_queue)),
      gate_(options.rules, lookup, pool_.get(), metrics_) {}

std::expected<std::unique_ptr<Admission>, Error> Admission::start(const GateOptions& options, kube::Client* client,
                                                                  cluster::ClusterLookup* lookup,
                                                                  metrics::Registry& registry,
                                                                  run::Readiness& readiness,
                                                                  telemetry::Telemetry& telemetry) {
  std::unique_ptr<Admission> out(new Admission(options, lookup, registry));
  std::function<certs::IdentityStatus()> identity_status;
  if (options.self_managed) {
    certs::SelfManagedOptions wanted;
    wanted.ns = options.service_namespace;
    wanted.configurations = options.webhook_config_names;
    wanted.policy.dns_names = certs::service_names(options.service_name, options.service_namespace);
    auto kept = certs::SelfManaged::start(*client, wanted);
    out->identity_ = kept;
    identity_status = status_of(kept);
  } else {
    auto files = certs::FileIdentity::start({.certificate_file = options.tls_cert, .key_file = options.tls_key});
    out->identity_ = files;
    identity_status = status_of(files);
  }
  certs::add_identity_metrics(registry, identity_status);
  readiness.add("certificate", [status = identity_status] {
    return certs::why_not_ready(status(), std::chrono::system_clock::now());
  });

  auto server = TRY(http::Server::start(
      {.listen = options.listen, .tls = out->identity_, .threads = run::event_loops(options.workers)},
      telemetry::traced([gate = &out->gate_](const http::Request& request,
                                             http::Responder respond) { gate->handle(request, std::move(respond)); },
                        telemetry, {"/validate", "/early"})));
  out->server_ = std::move(server);
  run::add_server_metrics(registry, "stackgate_gate", *out->server_);
  log::info("gate serves", {{"listen", options.listen},
                            {"port", out->server_->port()},  // the real one where 0 was asked for
                            {"metrics", options.metrics_listen},
                            {"health", options.health_listen},
                            {"cluster", lookup != nullptr},
                            {"threads", run::event_loops(options.workers)}});
  return out;
}

void Admission::stop(run::StopSignals& signals, run::Readiness& readiness, const GateOptions& options) {
  run::stop_gracefully(signals, readiness, *server_, {.lame_duck = std::chrono::seconds(options.drain_seconds)});
}

Admission::~Admission() {
  server_.reset();
  pool_.reset();  // its tasks use the gate
}

void add_lookup_metrics(metrics::Registry& registry, const cluster::State& state,
                        const cluster::ClusterLookup& lookup) {
  registry.gauge_from("stackgate_gate_cached_objects", "Objects in the watch caches that references are looked up in.",
                      [&state] { return static_cast<double>(state.objects()); });
  const auto counter = [&](const char* name, const char* help, const std::atomic<std::uint64_t>& value) {
    registry.counter_from(name, help, [&value] { return static_cast<double>(value.load()); });
  };
  counter("stackgate_gate_lookups_cached_total", "References found in the watch cache.", lookup.counters().cached);
  counter("stackgate_gate_lookups_present_total", "References that the API server was asked about and has.",
          lookup.counters().present);
  counter("stackgate_gate_lookups_absent_total", "References that the API server was asked about and does not have.",
          lookup.counters().absent);
  counter("stackgate_gate_lookups_failed_total", "References that the API server could not be asked about.",
          lookup.counters().failed);
}

}  // namespace stackgate
