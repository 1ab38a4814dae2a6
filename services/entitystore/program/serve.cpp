#include <algorithm>
#include <chrono>
#include <cstdint>
#include <optional>
#include <string>
#include <thread>

#include <fmt/format.h>

#include "services/entitystore/adapters/access_log.hpp"
#include "services/entitystore/adapters/rows.hpp"
#include "services/entitystore/api/api.hpp"
#include "services/entitystore/program/program.hpp"
#include "services/entitystore/registration/registrar.hpp"
#include "services/kit/base/time.hpp"
#include "services/kit/base/try.hpp"
#include "services/kit/http_client/url.hpp"
#include "services/kit/log/log.hpp"
#include "services/kit/run/periodic.hpp"
#include "services/kit/service/database.hpp"

namespace stackgate::entitystore {
namespace serve_detail {

std::string day_before(std::int64_t days) {
  return to_rfc3339(std::chrono::system_clock::now() - std::chrono::days(days)).substr(0, 10);
}

run::Periodic::Round follow(Catalogue& catalogue, std::chrono::milliseconds period) {
  return [&catalogue, period, good = true](const std::stop_token&) mutable {
    const auto done = catalogue.refresh();
    if (!done && good)
      log::warning("adapters are served from memory: the database is away", {{"reason", done.error().message}});
    if (done && !good) log::info("the database is back");
    good = done.has_value();
    return good ? period : std::max(period, std::chrono::milliseconds(1000));
  };
}

run::Periodic::Round sweep(sql::Database& database, Registrar& registrar, std::chrono::milliseconds period,
                           std::int64_t access_log_days) {
  return [&database, &registrar, period, access_log_days, day = std::string()](const std::stop_token& stop) mutable {
    registrar.sweep(stop);
    const std::string now = day_before(access_log_days);
    if (access_log_days > 0 && now != day && AccessLog::forget(database, now)) day = now;
    return period;
  };
}

constexpr std::chrono::seconds look_limit{5};

/// In the order in which they need each other; they end in reverse.
struct Running {
  std::shared_ptr<sql::Database> database;
  Spool spool;
  Datastore datastore;
  Catalogue catalogue;
  Registrar registrar;
  AccessLog access;
  SharedSetting key;
  std::optional<run::Periodic> following, sweeping;  // the catalogue the database, the sweep what crashes left
  std::optional<std::jthread> first_look;
  Api api;

  Running(std::shared_ptr<sql::Database> opened, Spool held, const settings::Values& values, metrics::Registry& metrics,
          RegistrarOptions options)
      : database(std::move(opened)),
        spool(std::move(held)),
        datastore(datastore_options(values)),
        catalogue(*database),
        registrar(*database, catalogue, datastore, spool, std::move(options)),
        access(*database, metrics),
        key(*database, "download-key", 32),
        api{.database = *database,
            .catalogue = catalogue,
            .datastore = datastore,
            .spool = spool,
            .registrar = registrar,
            .access = access,
            .serving = {.max_rank = values.integer("max-lora-rank")},
            .archive_bytes = static_cast<std::uint64_t>(values.integer("max-archive")),
            .downloads = values.text("downloads") == "direct" ? Downloads::direct : Downloads::proxy,
            .datastore_public_url = values.text("datastore-public-url").empty() ? values.text("datastore-url")
                                                                                : values.text("datastore-public-url"),
            .trust_forwarded = values.flag("trust-forwarded"),
            .link_valid = std::chrono::seconds(values.integer("download-valid") / 1000),
            .signing_key = [this] { return key.get().value_or(""); },
            .wake_sweep =
                [this] {
                  if (sweeping) sweeping->wake();
                }} {}
};

/// One question to the datastore answers for two checks.
class DatastoreChecks {
 public:
  explicit DatastoreChecks(std::shared_ptr<Running> running) : running_(std::move(running)) {}

  /// Credentials that it refuses: no upload would ever succeed, and the rollout that brought them should stop here.
  std::expected<void, Error> credentials(std::chrono::milliseconds limit) {
    auto known = running_->datastore.check(limit);
    const std::lock_guard lock(mutex_);
    away_ = !known && known.error().away ? known.error().message : std::string();
    if (known || known.error().away) return {};
    return std::unexpected(Error{std::move(known.error().message)});
  }
  /// Lists and records go on while it is away: without this replica in the Service nobody would get those either.
  std::expected<void, Error> answers() {
    const std::lock_guard lock(mutex_);
    if (away_.empty()) return {};
    return std::unexpected(Error{away_ + "; lists and records are served, uploads and downloads are not"});
  }

 private:
  const std::shared_ptr<Running> running_;
  std::mutex mutex_;
  std::string away_;
};

}  // namespace serve_detail

std::expected<service::Parts, Error> build(const settings::Values& values, metrics::Registry& metrics,
                                           const FailPoint& fail) {
  auto database = TRY(service::open_migrated(program(), values, migrations()));
  auto spool = Spool::open(values.text("data-dir"));
  if (!spool) return std::unexpected(Error{spool.error()});
  RegistrarOptions options = registrar_options(values);
  options.fail = fail;
  auto running =
      std::make_shared<serve_detail::Running>(database, std::move(*spool), values, metrics, std::move(options));
  if (running->datastore.authorization().empty())
    log::warning("no DATASTORE_USERNAME and DATASTORE_PASSWORD: the datastore takes no uploads from strangers");
  if (auto read = running->catalogue.refresh(); !read)
    log::warning("the database is away; waiting for it", {{"reason", read.error().message}});
  metrics.gauge_from("entitystore_adapters", "Adapter versions that are not deleted",
                     [running] { return static_cast<double>(running->catalogue.snapshot()->all().size()); });

  const auto checks = std::make_shared<serve_detail::DatastoreChecks>(running);
  service::Parts parts{
      .routes = routes(running->api),
      .checks = {
          service::database_check(database),
          {"adapters",
           [running](std::chrono::milliseconds) -> std::expected<void, Error> {
             if (running->catalogue.loaded()) return {};
             return std::unexpected(Error{"the adapters have not been read from the database yet"});
           }},
          {"datastore credentials", [checks](std::chrono::milliseconds limit) { return checks->credentials(limit); }},
          {"datastore", [checks](std::chrono::milliseconds) { return checks->answers(); }, true}}};
  // Beside the start, which a datastore that is away must not hold up.
  running->first_look.emplace([&datastore = running->datastore] {
    if (const auto known = datastore.check(serve_detail::look_limit); !known)
      log::warning("the datastore cannot be used yet: no upload gets in, and no archive out",
                   {{"url", datastore.options().url}, {"reason", known.error().message}});
  });
  constexpr std::chrono::milliseconds at_once{0};
  running->following.emplace(at_once,
                             serve_detail::follow(running->catalogue, std::chrono::milliseconds(std::max<std::int64_t>(
                                                                          values.integer("refresh-interval"), 10))));
  running->sweeping.emplace(at_once, serve_detail::sweep(*running->database, running->registrar,
                                                         std::chrono::milliseconds(values.integer("sweep-interval")),
                                                         values.integer("access-log-days")));
  parts.on_stop = [running] {
    running->sweeping.reset();
    running->following.reset();
    (void)running->access.flush();
  };
  parts.about = {{"datastore", http_client::without_secrets(running->datastore.options().url)}};
  parts.keep = running;
  return parts;
}

}  // namespace stackgate::entitystore
