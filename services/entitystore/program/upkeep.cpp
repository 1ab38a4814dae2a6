#include "services/entitystore/program/upkeep.hpp"

#include <algorithm>
#include <string>

#include <fmt/format.h>

#include "services/entitystore/adapters/access_log.hpp"
#include "services/kit/base/time.hpp"
#include "services/kit/log/log.hpp"

namespace stackgate::entitystore {
namespace upkeep_detail {

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

run::Periodic::Round sweep(sql::Database& database, Registrar& registrar, UpkeepTimes times) {
  return [&database, &registrar, times, day = std::string()](const std::stop_token& stop) mutable {
    registrar.sweep(stop);
    const std::string now = day_before(times.access_log_days);
    if (times.access_log_days > 0 && now != day && AccessLog::forget(database, now)) day = now;
    return times.sweep;
  };
}

}  // namespace upkeep_detail

Upkeep::Upkeep(sql::Database& database, Catalogue& catalogue, Registrar& registrar, UpkeepTimes times)
    : following_(std::chrono::milliseconds(0), upkeep_detail::follow(catalogue, times.refresh)),
      sweeping_(std::chrono::milliseconds(0), upkeep_detail::sweep(database, registrar, times)) {}

}  // namespace stackgate::entitystore
