#include <atomic>
#include <memory>
#include <optional>

#include <fmt/format.h>

#include "services/datastore/assembly.hpp"
#include "services/datastore/commands.hpp"
#include "services/datastore/lfs/background.hpp"
#include "services/datastore/migrations.hpp"
#include "services/datastore/routes.hpp"
#include "services/datastore/upkeep.hpp"
#include "services/kit/base/try.hpp"
#include "services/kit/log/log.hpp"
#include "services/kit/service/database.hpp"

namespace stackgate::datastore {
namespace {

/// In the order in which they need each other; they end in reverse.
struct Running {
  explicit Running(std::unique_ptr<Assembly> made) : assembly(std::move(made)) {}
  std::unique_ptr<Assembly> assembly;
  std::optional<run::Periodic> background{};
  std::optional<run::Periodic> upkeep{};
};

void append(std::vector<web::Route>& all, std::vector<web::Route> more) {
  for (web::Route& route : more) all.push_back(std::move(route));
}

std::vector<web::Route> all_routes(Backend& backend, const Options& options) {
  std::vector<web::Route> all;
  append(all, smart_http::routes(backend, {.children = options.git_processes, .push_bytes = options.push_bytes}));
  append(all, lfs::routes(backend));
  append(all, gitea::routes(backend));
  append(all, hub::routes(backend));
  append(all, pages::routes(backend));
  return all;
}

/// Ready means: it answers, and has the tables that this version needs.
service::Check schema_check(const std::shared_ptr<sql::Database>& database) {
  return {"schema",
          [database,
           seen = std::make_shared<std::atomic<bool>>(false)](std::chrono::milliseconds) -> std::expected<void, Error> {
            if (*seen) return {};
            if (auto current = sql::require_current(*database, all_migrations()); !current)
              return std::unexpected(Error{current.error().message});
            *seen = true;
            return {};
          }};
}

/// A full store still serves what it has: writing is refused, with words, where it happens.
service::Check store_check(const std::shared_ptr<Running>& running) {
  return {"object store", [running](std::chrono::milliseconds) -> std::expected<void, Error> {
            if (auto good = running->assembly->store->check(); !good && good.error().fault != objects::Fault::full)
              return std::unexpected(Error{good.error().message});
            return {};
          }};
}

/// S3 refuses signatures beyond 15 minutes: who watches this number learns of it before.
void show_clock_skew(metrics::Registry& metrics, const std::shared_ptr<Running>& running) {
  if (!running->assembly->options.store.s3.endpoint.empty())
    metrics.gauge_from(
        "datastore_s3_clock_skew_seconds", "How far S3's clock is ahead of ours by its last answer; 0 before the first",
        [running] {
          return static_cast<double>(running->assembly->store->clock_skew().value_or(std::chrono::seconds(0)).count());
        });
}

}  // namespace

std::expected<service::Parts, Error> build(const settings::Values& values, metrics::Registry& metrics) {
  auto assembly = TRY(assemble(values, Secrets::made));
  auto running = std::make_shared<Running>(std::move(assembly));
  Assembly& all = *running->assembly;
  // A database that is away may come back; one that lacks tables will not mend itself.
  if (auto current = sql::require_current(*all.database, all_migrations()); !current) {
    if (current.error().fault == sql::Fault::broken) return std::unexpected(Error{current.error().message});
    log::warning("the database is away; waiting for it", {{"cause", current.error().message}});
  } else if (auto prepared = all.accounts.prepare(); !prepared) {
    if (prepared.error().fault == ServiceFault::forbidden) return std::unexpected(Error{prepared.error().message});
    log::warning("the administrator's account could not be prepared", {{"cause", prepared.error().message}});
  }
  const auto path_of = [&all](std::int64_t id) { return all.repositories.path(id); };
  running->background.emplace(
      std::chrono::milliseconds(0),
      lfs::background_round(all.large_files, lfs::BackgroundOptions{}, lfs::pointers_in_git(path_of)));
  if (const auto interval = all.options.upkeep; interval.count() > 0)
    running->upkeep.emplace(std::min(interval, first_upkeep), upkeep_round(all.repositories, interval));

  show_clock_skew(metrics, running);
  service::Parts parts{
      .routes = all_routes(all.backend, all.options),
      .checks = {service::database_check(all.database), schema_check(all.database), store_check(running)}};
  parts.on_readiness = [running](std::shared_ptr<const run::Readiness> readiness) {
    running->assembly->backend.readiness = std::move(readiness);
  };
  parts.on_stop = [running] {
    running->upkeep.reset();
    running->background.reset();
  };
  const objects::Options& store = all.options.store;
  parts.about = {{"objects", store.s3.endpoint.empty()
                                 ? store.directory
                                 : fmt::format("s3://{} at {}", store.s3.bucket, store.s3.endpoint)}};
  parts.keep = running;
  return parts;
}

}  // namespace stackgate::datastore
