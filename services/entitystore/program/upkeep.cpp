#include "services/entitystore/program/upkeep.hpp"

#include <ctime>

#include <fmt/format.h>

#include "services/entitystore/adapters/access_log.hpp"
#include "services/kit/log/log.hpp"

namespace stackgate::entitystore {
namespace upkeep_detail {

std::string day_before(std::int64_t days) {
  const std::time_t then = std::time(nullptr) - static_cast<std::time_t>(days * 24 * 3600);
  std::tm utc{};
  gmtime_r(&then, &utc);
  return fmt::format("{:04}-{:02}-{:02}", utc.tm_year + 1900, utc.tm_mon + 1, utc.tm_mday);
}

}  // namespace upkeep_detail

Upkeep::Upkeep(sql::Database& database, Catalogue& catalogue, Registrar& registrar, UpkeepTimes times)
    : database_(database),
      catalogue_(catalogue),
      registrar_(registrar),
      times_(times),
      following_([this] { follow(); }),
      sweeping_([this] { sweep(); }) {}

Upkeep::~Upkeep() {
  {
    const std::lock_guard lock(mutex_);
    stop_ = true;
  }
  changed_.notify_all();
}

void Upkeep::wake() {
  {
    const std::lock_guard lock(mutex_);
    woken_ = true;
  }
  changed_.notify_all();
}

bool Upkeep::wait(std::chrono::milliseconds period, bool until_woken) {
  std::unique_lock lock(mutex_);
  changed_.wait_for(lock, period, [&] { return stop_ || (until_woken && woken_); });
  if (until_woken) woken_ = false;
  return !stop_;
}

void Upkeep::follow() {
  bool good = true;
  do {
    const auto done = catalogue_.refresh();
    if (!done && good)
      log::warning("adapters are served from memory: the database is away", {{"reason", done.error().message}});
    if (done && !good) log::info("the database is back");
    good = done.has_value();
  } while (wait(good ? times_.refresh : std::max(times_.refresh, std::chrono::milliseconds(1000)), false));
}

void Upkeep::sweep() {
  std::string day;
  do {
    registrar_.sweep(stop_);
    const std::string now = upkeep_detail::day_before(times_.access_log_days);
    if (times_.access_log_days > 0 && now != day && AccessLog::forget(database_, now)) day = now;
  } while (wait(times_.sweep, true));
}

}  // namespace stackgate::entitystore
