#include <atomic>
#include <chrono>
#include <memory>
#include <optional>
#include <string>
#include <utility>

#include <fmt/format.h>

#include "services/customizer/front/authorize.hpp"
#include "services/customizer/pages/pages.hpp"
#include "services/customizer/program/callback.hpp"
#include "services/customizer/program/program.hpp"
#include "services/customizer/runs/adapter_state.hpp"
#include "services/customizer/trackers/trackers.hpp"
#include "services/kit/base/try.hpp"
#include "services/kit/http_client/url.hpp"
#include "services/kit/run/startup.hpp"
#include "services/kit/service/database.hpp"

namespace stackgate::customizer {
namespace serve_detail {

constexpr std::chrono::milliseconds adapter_limit{5'000};

OpenDatasets open_datasets(const settings::Values& values) {
  const datastore_client::DatasetOptions options{
      .url = values.text("datastore-url"),
      .username = values.text("datastore-username"),
      .password = values.text("datastore-password"),
      .patience = std::chrono::milliseconds(values.integer("datastore-timeout"))};
  return [options](std::function<bool()> give_up) {
    datastore_client::DatasetOptions own = options;
    own.give_up = std::move(give_up);
    return std::make_shared<const datastore_client::Datasets>(std::move(own));
  };
}

std::string callback_url(const settings::Values& values, std::uint16_t port) {
  if (!values.text("callback-url").empty()) return values.text("callback-url");
  const std::string& listen = values.text("callback-listen");
  const std::string host = listen.substr(0, listen.rfind(':'));
  return fmt::format("http://{}:{}", host.empty() || host == "0.0.0.0" ? "127.0.0.1" : host, port);
}

RunnerOptions runner_options(const settings::Values& values, const Limits& limits, const FailPoint& fail) {
  const std::string& entitystore = values.text("entitystore-url");
  const std::string& name = values.text("replica-name");
  return {.step = {.limits = limits,
                   .ask_adapter =
                       [entitystore](const OutputModel& adapter) {
                         return ask_adapter_state(entitystore, adapter, adapter_limit);
                       },
                   .fail = fail},
          .owner = name.empty() ? run::host_name() : name,
          .lease = std::chrono::seconds(values.integer("lease") / 1'000)};
}

/// In the order in which they need each other; they end in reverse.
struct Running {
  std::shared_ptr<sql::Database> database;
  Records records;
  RunMetrics metrics;
  CatalogueFolder catalogue;
  std::unique_ptr<Callback> callback{};
  std::optional<Runner> runner{};
  std::optional<ReportQueue> reports{};
  std::atomic<bool> ending = false;  // calls to trackers are given up
  std::optional<Trackers> trackers{};

  Running(std::shared_ptr<sql::Database> opened, metrics::Registry& registry, CatalogueFolders folders)
      : database(std::move(opened)), records(*database), metrics(registry), catalogue(std::move(folders)) {
    metrics.show_open(registry, records);
  }
  ~Running() { callback.reset(); }
  Running(const Running&) = delete;
  Running& operator=(const Running&) = delete;
};

std::vector<std::unique_ptr<Tracker>> trackers_of(const settings::Values& values, const std::atomic<bool>& ending) {
  std::vector<std::unique_ptr<Tracker>> out;
  const auto give_up = [&ending] { return ending.load(); };
  if (values.has("tracking-url")) out.push_back(mlflow_tracker(mlflow_options(values), give_up));
  const WandbOptions wandb = wandb_options(values);
  if (!wandb.api_key.empty() || !wandb.encryption_key.empty()) out.push_back(wandb_tracker(wandb, give_up));
  return out;
}

}  // namespace serve_detail

std::expected<service::Parts, Error> build(const settings::Values& values, metrics::Registry& metrics,
                                           const FailPoint& fail) {
  using namespace serve_detail;
  const auto database = TRY(service::open_migrated(program(), values, customization_migrations(), true));
  const auto running = std::make_shared<Running>(database, metrics, folders_of(values));
  running->callback = TRY(Callback::start(values.text("callback-listen")));
  const std::string reports = callback_url(values, running->callback->port());
  auto where = TRY(make_executor(values, running->catalogue, reports, fail));
  running->runner.emplace(running->records, std::move(where.executor), running->metrics,
                          runner_options(values, where.limits, fail));
  running->reports.emplace(running->records);
  running->trackers.emplace(running->records, trackers_of(values, running->ending));
  const auto front = std::make_shared<const Front>(
      Front{.runner = *running->runner,
            .catalogue = running->catalogue,
            .options = {.validation_limit = std::chrono::milliseconds(values.integer("validation-limit")),
                        .datasets = open_datasets(values),
                        .has_mlflow = values.has("tracking-url"),
                        .wandb = wandb_options(values),
                        .token_file = values.text("token-file")},
            .reports = *running->reports});
  running->callback->serve(front);
  const std::string& tokens = front->options.token_file;
  const std::string entitystore = http_client::without_secrets(values.text("entitystore-url"));
  service::Parts parts{.routes = routes(front), .checks = {service::database_check(database)}};
  for (web::Route& each : page_routes({.records = running->records, .entitystore_url = entitystore})) {
    if (!tokens.empty()) each.handler = page_with_tokens(tokens, std::move(each.handler));
    parts.routes.push_back(std::move(each));
  }
  parts.about = {{"datastore", http_client::without_secrets(values.text("datastore-url"))},
                 {"adapters", entitystore},
                 {"reports", reports}};
  if (values.has("tracking-url"))
    parts.about.emplace_back("tracking", http_client::without_secrets(values.text("tracking-url")));
  for (service::Check& each : where.checks) parts.checks.push_back(std::move(each));
  parts.about.insert(parts.about.end(), where.about.begin(), where.about.end());
  parts.on_telemetry = [running](telemetry::Telemetry&) {
    running->runner->start();
    running->trackers->start();
  };
  parts.on_stop = [running] {
    running->callback.reset();
    running->reports.reset();
    running->ending = true;
    running->trackers.reset();
    running->runner.reset();
  };
  parts.keep = running;
  return parts;
}

}  // namespace stackgate::customizer
