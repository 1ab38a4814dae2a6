// `stackgate gate`: wiring only. Every part is made here, in the order in which it is needed, and ends in reverse.
#include "webhook/gate.hpp"

#include <algorithm>
#include <cstdio>
#include <memory>
#include <thread>

#include <fmt/format.h>

#include "certs/file_identity.hpp"
#include "certs/identity_metrics.hpp"
#include "certs/self_managed.hpp"
#include "services/kit/http/server.hpp"
#include "services/kit/kube/client.hpp"
#include "services/kit/kube/config.hpp"
#include "services/kit/log/log.hpp"
#include "services/kit/metrics/registry.hpp"
#include "services/kit/run/metrics.hpp"
#include "services/kit/run/pool.hpp"
#include "services/kit/run/readiness.hpp"
#include "services/kit/run/stop.hpp"
#include "services/stackgate/gate_options.hpp"
#include "webhook/cluster_lookup.hpp"

namespace stackgate {
namespace {

// Reviews that wait for the API server: more threads than it would serve us at once gain nothing.
constexpr unsigned asking_threads = 8;
constexpr std::size_t asking_queue = 256;

int fail(std::string_view message) {
  fmt::print(stderr, "stackgate gate: {}\n", message);
  return 1;
}

unsigned event_loops(unsigned wanted) {
  return wanted != 0 ? wanted : std::clamp(std::thread::hardware_concurrency(), 1U, 4U);
}

std::expected<std::unique_ptr<kube::Client>, Error> connect(const GateOptions& options) {
  auto config = kube::find_config(options.kubeconfig, options.context);
  if (!config) return std::unexpected(config.error());
  for (const std::string& warning : config->warnings) log::warning(warning, {{"source", config->source}});
  log::info("cluster", {{"server", config->server}, {"source", config->source}});
  return kube::Client::connect(std::move(*config));
}

void add_lookup_metrics(metrics::Registry& registry, const webhook::ClusterLookup& lookup) {
  registry.gauge_from("stackgate_gate_cached_objects", "Objects in the watch caches that references are looked up in.",
                      [&lookup] { return static_cast<double>(lookup.cached_objects()); });
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

/// What the gate proves itself with, and how it is doing: from files, or kept in a Secret.
struct TlsIdentity {
  std::shared_ptr<http::TlsSource> source;
  std::function<certs::IdentityStatus()> status;
};

TlsIdentity open_identity(const GateOptions& options, kube::Client* client) {
  if (!options.self_managed) {
    auto files = certs::FileIdentity::start({.certificate_file = options.tls_cert, .key_file = options.tls_key});
    return {files, [files] { return files->status(); }};
  }
  certs::SelfManagedOptions wanted;
  wanted.ns = options.service_namespace;
  wanted.configurations = options.webhook_config_names;
  wanted.policy.dns_names = certs::service_names(options.service_name, options.service_namespace);
  auto kept = certs::SelfManaged::start(*client, wanted);
  return {kept, [kept] { return kept->status(); }};
}

/// A plain HTTP server beside the gate, or none for an empty address.
std::expected<std::unique_ptr<http::Server>, Error> side_server(const std::string& listen, http::Handler handler) {
  if (listen.empty()) return nullptr;
  return http::Server::start({.listen = listen, .limits = {.connections = 256}}, std::move(handler));
}

}  // namespace

int run_gate(const GateOptions& options) {
  log::configure({options.log_level, log::parse_format(options.log_format).value_or(log::default_format(2)), 2});
  run::StopSignals signals;  // before any thread: threads inherit the signal mask
  run::raise_file_limit();
  metrics::Registry registry;
  run::add_process_metrics(registry);
  webhook::Telemetry telemetry(registry);
  run::Readiness readiness;

  std::unique_ptr<kube::Client> client;
  std::unique_ptr<webhook::ClusterLookup> lookup;
  std::unique_ptr<kube::SharedWatches> watches;
  std::unique_ptr<run::Pool> pool;
  if (!options.no_cluster) {
    auto connected = connect(options);
    if (!connected)
      return fail(fmt::format("{}\n  (--no-cluster runs the gate without reference rules)", connected.error().message));
    client = std::move(*connected);
    watches = std::make_unique<kube::SharedWatches>(client->transport(), options.namespaces);
    lookup = std::make_unique<webhook::ClusterLookup>(*client, *watches);
    watches->start();
    pool = std::make_unique<run::Pool>(asking_threads, asking_queue);
    add_lookup_metrics(registry, *lookup);
    readiness.add("caches",
                  [&cache = *lookup] { return cache.synced() ? "" : "the first lists are not complete yet"; });
  }

  const TlsIdentity identity = open_identity(options, client.get());
  certs::add_identity_metrics(registry, identity.status);
  readiness.add("certificate",
                [&identity] { return certs::why_not_ready(identity.status(), std::chrono::system_clock::now()); });

  webhook::Gate gate(options.rules, lookup.get(), pool.get(), telemetry);

  auto server = http::Server::start(
      {.listen = options.listen, .tls = identity.source, .threads = event_loops(options.workers)},
      [&gate](const http::Request& request, http::Responder respond) { gate.handle(request, std::move(respond)); });
  if (!server) return fail(server.error().message);
  run::add_server_metrics(registry, "stackgate_gate", **server);
  auto health = side_server(options.health_listen, run::health_handler(readiness));
  if (!health) return fail(health.error().message);
  auto scrape = side_server(options.metrics_listen, run::metrics_handler(registry));
  if (!scrape) return fail(scrape.error().message);

  log::info("gate serves", {{"listen", options.listen},
                            {"metrics", options.metrics_listen},
                            {"health", options.health_listen},
                            {"cluster", !options.no_cluster},
                            {"threads", event_loops(options.workers)}});
  signals.wait();
  run::stop_gracefully(signals, readiness, **server, {.lame_duck = std::chrono::seconds(options.drain_seconds)});
  server->reset();
  pool.reset();  // its tasks use the gate
  return 0;
}

}  // namespace stackgate
