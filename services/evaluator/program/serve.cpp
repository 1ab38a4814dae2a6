#include <chrono>
#include <memory>
#include <string>
#include <utility>

#include "services/evaluator/front/comparisons.hpp"
#include "services/evaluator/pages/pages.hpp"
#include "services/evaluator/program/program.hpp"
#include "services/kit/base/try.hpp"
#include "services/kit/http_client/url.hpp"
#include "services/kit/run/startup.hpp"
#include "services/kit/service/database.hpp"

namespace stackgate::evaluator {
namespace serve_detail {

OpenDatasets open_datasets(const settings::Values& values) {
  if (values.text("datastore-url").empty()) return {};
  const datastore_client::DatasetOptions options{
      .url = values.text("datastore-url"),
      .username = values.text("datastore-username"),
      .password = values.text("datastore-password"),
      .token = values.text("datastore-token"),
      .patience = std::chrono::milliseconds(values.integer("datastore-timeout"))};
  return [options](std::function<bool()> give_up) {
    datastore_client::DatasetOptions own = options;
    own.give_up = std::move(give_up);
    return std::make_shared<const datastore_client::Datasets>(std::move(own));
  };
}

RunnerOptions runner_options(const settings::Values& values, const FailPoint& fail) {
  const auto of = [&](std::string_view name) { return std::chrono::milliseconds(values.integer(name)); };
  return {.run = {.datasets = open_datasets(values),
                  .workflow = workflow_options(values),
                  .authorities = {.text = values.text("endpoint-ca"), .file = values.text("endpoint-ca-file")},
                  .retrieval = {.database = {.url = values.text("vector-db-url"),
                                             .token = values.text("vector-db-token"),
                                             .ca_file = values.text("vector-db-ca-file")},
                                .directory = values.text("data-dir") + "/vectors"},
                  .patience = of("patience"),
                  .answer_patience = of("answer-patience"),
                  .fail = fail},
          .evaluations = static_cast<unsigned>(values.integer("max-evaluations")),
          .lease = std::chrono::duration_cast<std::chrono::seconds>(of("lease")),
          .sweep = std::min(of("lease"), std::chrono::milliseconds(5'000))};
}

/// In the order in which they need each other; they end in reverse.
struct Running {
  std::shared_ptr<sql::Database> database;
  RunMetrics metrics;
  std::optional<Runner> runner;

  Running(std::shared_ptr<sql::Database> opened, metrics::Registry& registry, RunnerOptions options)
      : database(std::move(opened)), metrics(registry) {
    runner.emplace(*database, std::move(options), metrics);
  }
};

}  // namespace serve_detail

std::expected<service::Parts, Error> build(const settings::Values& values, metrics::Registry& metrics,
                                           const FailPoint& fail) {
  using namespace serve_detail;
  run::configure_log(log_level_of(values), values.text("log-format"));
  const auto database = TRY(service::open_migrated(program(), values, evaluation_migrations(), true));
  const auto running = std::make_shared<Running>(database, metrics, runner_options(values, fail));
  const auto front = std::make_shared<const Front>(
      Front{.runner = *running->runner,
            .options = {.validation = wants_validation(values),
                        .validation_limit = std::chrono::milliseconds(values.integer("validation-limit")),
                        .datasets = open_datasets(values),
                        .entitystore = values.text("entitystore-url"),
                        .workflow = workflow_options(values),
                        .vector_database = !values.text("vector-db-url").empty()}});
  const Records& records = running->runner->records();
  service::Parts parts{.routes = routes(front), .checks = {service::database_check(database)}};
  for (web::Route& each : page_routes({.records = records, .compare = [&records](const ComparisonRequest& request) {
                                         return compare_stored(records, request);
                                       }}))
    parts.routes.push_back(std::move(each));
  if (!values.text("datastore-url").empty())
    parts.about.emplace_back("datastore", http_client::without_secrets(values.text("datastore-url")));
  if (!values.text("entitystore-url").empty())
    parts.about.emplace_back("adapters", http_client::without_secrets(values.text("entitystore-url")));
  if (!values.text("workflow-server-url").empty())
    parts.about.emplace_back("workflows", http_client::without_secrets(values.text("workflow-server-url")));
  parts.on_telemetry = [running](telemetry::Telemetry& telemetry) { running->runner->start(&telemetry); };
  parts.on_stop = [running] { running->runner.reset(); };
  parts.keep = running;
  return parts;
}

}  // namespace stackgate::evaluator
