#include <cstdio>
#include <exception>
#include <filesystem>

#include <fmt/format.h>

#include "certs/file_identity.hpp"
#include "services/kit/base/version.hpp"
#include "services/kit/log/log.hpp"
#include "services/kit/run/metrics.hpp"
#include "services/kit/run/startup.hpp"
#include "services/kit/service/check_runner.hpp"
#include "services/kit/service/common.hpp"
#include "services/kit/service/database.hpp"
#include "services/kit/service/service.hpp"
#include "services/kit/settings/variables.hpp"
#include "services/kit/telemetry/telemetry.hpp"
#include "services/kit/web/health.hpp"

namespace stackgate::service {
namespace run_detail {

constexpr int failed = 1, wrong_settings = 2;
constexpr std::chrono::seconds flush_limit{5};  // of telemetry, at the end

int fail(const Service& service, std::string_view message) {
  log::error("cannot start", {{"program", service.program.name}, {"error", message}});
  return failed;
}

/// A pair that is no good when the process starts is a mistake of whoever starts it; one that goes bad later is waited
/// out, because the next renewal heals it.
std::expected<std::shared_ptr<certs::FileIdentity>, Error> identity(const settings::Values& values,
                                                                    metrics::Registry& registry,
                                                                    run::Readiness& readiness) {
  if (!values.has("tls-cert")) return nullptr;
  auto files =
      certs::FileIdentity::start({.certificate_file = values.text("tls-cert"), .key_file = values.text("tls-key")});
  if (const auto status = files->status(); !status.serving)
    return std::unexpected(Error{fmt::format("--tls-cert {} with --tls-key {}: {}", values.text("tls-cert"),
                                             values.text("tls-key"), status.error)});
  certs::add_identity_metrics(registry, [files] { return files->status(); });
  readiness.add("certificate",
                [files] { return certs::why_not_ready(files->status(), std::chrono::system_clock::now()); });
  return files;
}

/// The address as written, with the port that it became.
std::string served_url(const settings::Values& values, std::uint16_t port) {
  const std::string& listen = values.text("listen");
  const std::string host = listen.substr(0, listen.rfind(':'));
  return fmt::format("{}://{}:{}", values.has("tls-cert") ? "https" : "http", host.empty() ? "0.0.0.0" : host, port);
}

/// What an operator asks first: which program, where, over which data.
void log_start(const Service& service, const settings::Values& values,
               const std::vector<std::pair<std::string, std::string>>& about, std::uint16_t port) {
  const std::string url = served_url(values, port);
  std::error_code unknown;
  const std::string folder = std::filesystem::absolute(values.text("data-dir"), unknown).string();
  const std::string database = database_shown(database_url(service.program, values));
  std::vector<log::Field> fields{{"program", service.program.name},
                                 {"version", version},
                                 {"url", url},
                                 {"data_dir", unknown ? values.text("data-dir") : folder},
                                 {"database", database}};
  for (const auto& [name, text] : about) fields.emplace_back(name, text);
  log::write(log::Level::info, "listening", fields);
}

void warn_of_misspelt_variables(const settings::Program& program) {
  for (const auto& [name, meant] : settings::misspelt_variables(program, run::environment()))
    run::warn_of_misspelt_variable(name, meant);
}

int serve(const Service& service, const settings::Values& values) {
  run::StopSignals signals;  // before any thread: threads inherit the signal mask
  run::raise_file_limit();
  // In the order in which they need each other; they end in reverse.
  metrics::Registry registry;
  run::add_process_metrics(registry);
  const auto readiness = std::make_shared<run::Readiness>();
  auto parts = service.build(values, registry);
  if (!parts) return fail(service, parts.error().message);
  const auto pair = identity(values, registry, *readiness);
  if (!pair) return fail(service, pair.error().message);
  const std::shared_ptr<certs::FileIdentity>& tls = *pair;

  auto routes = std::move(parts->routes);
  for (web::Route& route : web::health_routes(readiness)) routes.push_back(std::move(route));
  routes.push_back(web::metrics_route(registry));
  auto stopping = std::make_shared<std::atomic<bool>>(false);
  web::AppConfig config;
  config.server = {.listen = values.text("listen"),
                   .tls = tls,
                   .threads = run::event_loops(static_cast<unsigned>(values.integer("threads")))};
  config.server.limits.connections = static_cast<std::size_t>(values.integer("max-connections"));
  config.pool_threads = static_cast<unsigned>(values.integer("pool-threads"));
  config.pool_queue = static_cast<std::size_t>(values.integer("pool-queue"));
  config.transfer_threads = static_cast<unsigned>(values.integer("transfer-threads"));
  config.transfers_per_client = static_cast<unsigned>(values.integer("transfers-per-client"));
  config.min_rate = static_cast<std::uint64_t>(values.integer("min-rate"));
  config.public_url = values.text("public-url");
  config.trust_forwarded = values.flag("trust-forwarded");
  config.documentation_url = parts->documentation_url;
  config.metrics = &registry;
  config.stopping = [stopping] { return stopping->load(); };
  config.observers = parts->observers;
  // Ends before the parts do, of which its metrics may ask.
  const auto telemetry = telemetry::Telemetry::start(
      telemetry::read_telemetry(values, service.program.name, run::host_name()), registry, tls != nullptr);
  config.sampler = telemetry->sampler();
  if (auto observer = telemetry->observer()) config.observers.push_back(std::move(observer));
  // Checks are on the board before the first probe may ask.
  CheckRunner checks(parts->checks, web::CheckBoard::make(), *readiness, registry);
  if (parts->on_readiness) parts->on_readiness(readiness);
  if (parts->on_telemetry) parts->on_telemetry(*telemetry);
  auto app = web::App::start(std::move(config), std::move(routes));
  if (!app) return fail(service, app.error().message);
  log_start(service, values, parts->about, (*app)->port());

  const int signal = signals.wait();
  log::info("stopping", {{"signal", signal}});
  *stopping = true;
  run::DrainPlan plan = drain_plan(values);
  plan.at_limit = parts->at_drain_limit;
  run::stop_gracefully(signals, *readiness, (*app)->server(), plan);
  app->reset();
  if (parts->on_stop) parts->on_stop();
  log::info("stopped");
  telemetry->shutdown(flush_limit);
  return 0;
}

}  // namespace run_detail

int run(const Service& service, int argc, char** argv) {
  using namespace run_detail;
  if (service.gives_memory_back) run::give_memory_back();
  const std::vector<const char*> arguments(argv + std::min(argc, 1), argv + argc);
  const settings::Outcome read = settings::read(service.program, arguments, run::variable, run::small_file, version);
  if (!read.to_print.empty()) {
    std::fputs(read.to_print.c_str(), stdout);
    return std::fflush(stdout) == 0 ? 0 : failed;
  }
  validate::Findings findings = read.findings;
  for (auto& finding : check_common(service.program, read.values)) findings.push_back(std::move(finding));
  if (service.check) {
    for (auto& finding : service.check(read.values)) findings.push_back(std::move(finding));
  }
  if (!findings.empty()) {
    std::fputs(settings::to_text(service.program, findings).c_str(), stderr);
    return wrong_settings;
  }
  run::configure_log(read.values.text("log-level"), read.values.text("log-format"));
  warn_of_misspelt_variables(service.program);
  try {
    if (serves(service.program, read.values)) return serve(service, read.values);
    if (service.run_command) return service.run_command(read.values);
    return fail(service, "this command is not there");
  } catch (const std::exception& thrown) {
    return fail(service, thrown.what());
  }
}

}  // namespace stackgate::service
