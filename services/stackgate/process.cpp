#include "services/stackgate/process.hpp"

#include <chrono>
#include <cstdio>

#include <fmt/format.h>

#include "services/kit/base/try.hpp"
#include "services/kit/base/version.hpp"
#include "services/kit/kube/config.hpp"
#include "services/kit/log/log.hpp"
#include "services/kit/run/metrics.hpp"
#include "services/kit/run/startup.hpp"

namespace stackgate {
namespace {

std::expected<std::unique_ptr<http::Server>, Error> plain_server(const std::string& listen, http::Handler handler) {
  if (listen.empty()) return nullptr;
  return http::Server::start({.listen = listen, .limits = {.connections = 256}}, std::move(handler));
}

}  // namespace

void configure_process(const GateOptions& options) {
  run::configure_log(log::to_string(options.log_level), options.log_format);
  run::raise_file_limit();
  log::info("stackgate starts", {{"version", version}});
  for (const auto& [name, meant] : options.misspelt_variables) run::warn_of_misspelt_variable(name, meant);
}

std::expected<std::unique_ptr<kube::Client>, Error> connect(const GateOptions& options, std::string_view command,
                                                            const kube::ClientOptions& client_options) {
  auto config = TRY(kube::find_config(options.kubeconfig, options.context));
  for (const std::string& warning : config.warnings) log::warning(warning, {{"source", config.source}});
  config.user_agent = fmt::format("stackgate-{}/{}", command, version);
  log::info("cluster", {{"server", config.server}, {"source", config.source}});
  return kube::Client::connect(std::move(config), client_options);
}

Endpoints::Endpoints(const GateOptions& options, metrics::Registry& registry)
    : options_(options),
      registry_(registry),
      telemetry_(telemetry::Telemetry::start(options.telemetry, registry, true)) {}

std::expected<void, Error> Endpoints::serve(const run::Readiness& readiness) {
  health_ = TRY(plain_server(options_.health_listen, run::health_handler(readiness)));
  metrics_ = TRY(plain_server(options_.metrics_listen, run::metrics_handler(registry_)));
  return {};
}

void Endpoints::end() {
  health_.reset();
  metrics_.reset();
  telemetry_->shutdown(std::chrono::seconds(5));
}

int fail(std::string_view command, std::string_view message) {
  fmt::print(stderr, "stackgate {}: {}\n", command, message);
  return 1;
}

void add_watch_metrics(metrics::Registry& registry, const kube::SharedWatches& watches) {
  const auto sum = [&](const char* name, const char* help, std::uint64_t kube::WatchCounts::* member) {
    registry.counter_from(name, help, [&watches, member] {
      double out = 0;
      for (const kube::WatchReport& each : watches.report()) out += static_cast<double>(each.health.counts.*member);
      return out;
    });
  };
  sum("stackgate_watch_lists_total", "Lists that watches began with.", &kube::WatchCounts::lists);
  sum("stackgate_watch_starts_total", "Watches begun, again ones included.", &kube::WatchCounts::watches);
  sum("stackgate_watch_events_total", "Events received.", &kube::WatchCounts::events);
  sum("stackgate_watch_expired_total", "Watches that had to list again (410).", &kube::WatchCounts::expired);
  sum("stackgate_watch_failures_total", "Lists and watches that failed, but for types that are not installed.",
      &kube::WatchCounts::failures);
  registry.gauge_from("stackgate_watch_disconnected_seconds",
                      "For how long no watch has reached the API server; 0 while one does, also when nothing changes.",
                      [&watches] { return watches.contact().lost_for().count(); });
}

void add_watch_warning(run::Readiness& readiness, const kube::SharedWatches& watches) {
  readiness.add_warning("watches", [&watches] { return watches.contact().problem(); });
}

}  // namespace stackgate
