// The process shell that all six services share: settings in, logs, signals, health, metrics, telemetry, an App with
// the service's routes, and a graceful end.
#pragma once
#include <chrono>
#include <expected>
#include <functional>
#include <memory>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "services/kit/base/error.hpp"
#include "services/kit/metrics/registry.hpp"
#include "services/kit/run/readiness.hpp"
#include "services/kit/settings/settings.hpp"
#include "services/kit/web/app.hpp"
#include "services/kit/web/route.hpp"

namespace stackgate::telemetry {
class Telemetry;
}

namespace stackgate::service {

/// Settings that every service has; Program::settings begins with them. Where it listens and under which certificate,
/// data-dir, database-url with database-password, log-format, log-level, public-url, threads and drain times.
std::vector<settings::Setting> common_settings();

/// One thing that must work before the service is ready ("database", "object store"). Asked in the background every few
/// seconds, on a thread of its own; probes read the last answer and never wait. `ask` keeps to its limit.
struct Check {
  std::string name;
  std::function<std::expected<void, Error>(std::chrono::milliseconds limit)> ask;
  /// Of what others do without: readiness, log and metrics show that it fails, and the service stays ready.
  bool only_warns = false;
};

/// Health and metrics routes are added to these.
struct Parts {
  std::vector<web::Route> routes;
  std::vector<Check> checks{};
  std::vector<std::function<void(const web::Served&)>> observers{};  // see web::AppConfig
  std::string documentation_url{};
  /// What the log's first line shows besides data directory and database: "objects", "s3://bucket at host". No secrets.
  std::vector<std::pair<std::string, std::string>> about{};
  /// Before the first request, with what probes read: for health in a spelling of the service's own.
  std::function<void(std::shared_ptr<const run::Readiness>)> on_readiness{};
  /// Before the first request: work in the background that has spans begins here. It lives until after on_stop.
  std::function<void(telemetry::Telemetry&)> on_telemetry{};
  std::function<void()> at_drain_limit{};  // what is in progress should end now: it is cut in a moment
  std::function<void()> on_stop{};         // after the last request
  std::shared_ptr<void> keep{};            // lives as long as the routes
};

struct Service {
  /// Without commands it only serves; with commands the first one serves.
  settings::Program program;
  /// Builds the parts from good settings. The error is printed and ends the process with 1.
  std::function<std::expected<Parts, Error>(const settings::Values&, metrics::Registry&)> build;
  /// The other commands; returns the exit status. SIGTERM ends them as it ends any program.
  std::function<int(const settings::Values&)> run_command{};
  /// What one setting has to do with another; shown beside the faults of single settings. Pure.
  std::function<validate::Findings(const settings::Values&)> check{};
  /// Few memory arenas (run::give_memory_back): for services with many threads that mostly wait.
  bool gives_memory_back = false;
};

/// main() of a service. Exit status: 0, 1 for a failure, 2 for wrong settings.
int run(const Service& service, int argc, char** argv);

}  // namespace stackgate::service
