#include "services/stackgate/process.hpp"

#include <cstdio>

#include <fmt/format.h>

#include "services/kit/kube/config.hpp"
#include "services/kit/log/log.hpp"
#include "services/kit/run/stop.hpp"
#include "services/stackgate/version.hpp"

namespace stackgate {
namespace {

std::expected<std::unique_ptr<http::Server>, Error> plain_server(const std::string& listen, http::Handler handler) {
  if (listen.empty()) return nullptr;
  return http::Server::start({.listen = listen, .limits = {.connections = 256}}, std::move(handler));
}

}  // namespace

void configure_process(const GateOptions& options) {
  log::configure({options.log_level, log::parse_format(options.log_format).value_or(log::default_format(2)), 2});
  run::raise_file_limit();
  log::info("stackgate starts", {{"version", version}});
  for (const auto& [name, meant] : options.misspelt_variables)
    log::warning("an environment variable is none of this command's settings and is ignored",
                 {{"variable", name}, {"did_you_mean", meant}});
}

std::expected<std::unique_ptr<kube::Client>, Error> connect(const GateOptions& options, std::string_view command,
                                                            const kube::ClientOptions& client_options) {
  auto config = kube::find_config(options.kubeconfig, options.context);
  if (!config) return std::unexpected(config.error());
  for (const std::string& warning : config->warnings) log::warning(warning, {{"source", config->source}});
  config->user_agent = fmt::format("stackgate-{}/{}", command, version);
  log::info("cluster", {{"server", config->server}, {"source", config->source}});
  return kube::Client::connect(std::move(*config), client_options);
}

std::expected<Endpoints, Error> start_endpoints(const GateOptions& options, const run::Readiness& readiness,
                                                http::Handler metrics) {
  Endpoints out;
  auto health = plain_server(options.health_listen, run::health_handler(readiness));
  if (!health) return std::unexpected(health.error());
  out.health = std::move(*health);
  auto scrape = plain_server(options.metrics_listen, std::move(metrics));
  if (!scrape) return std::unexpected(scrape.error());
  out.metrics = std::move(*scrape);
  return out;
}

int fail(std::string_view command, std::string_view message) {
  fmt::print(stderr, "stackgate {}: {}\n", command, message);
  return 1;
}

}  // namespace stackgate
