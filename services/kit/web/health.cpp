#include "services/kit/web/health.hpp"

#include <algorithm>
#include <atomic>

#include <fmt/format.h>

#include "services/kit/json/write.hpp"
#include "services/kit/run/metrics.hpp"

namespace stackgate::web {
namespace health_detail {

using Report = run::Readiness::Report;

http::Response answer(int status, std::string_view word, const Report* report) {
  http::Response response{status, "application/health+json", {{"Cache-Control", "no-store"}}, {}};
  json::Writer w(response.body);
  w.object([&] {
    w.member("status", word);
    if (report == nullptr) return;
    w.object("checks", [&] {
      for (const auto& item : report->items) {
        w.object(item.name, [&] {
          w.member("status", item.reason.empty() ? "pass" : item.counts ? "fail" : "warn");
          if (!item.reason.empty()) w.member("output", item.reason);
        });
      }
    });
    if (report->stopping) w.member("output", "the process is stopping");
  });
  return response;
}

http::Response ready(const Report& report) {
  if (!report.ready) return answer(503, "fail", &report);
  const bool limps = std::ranges::any_of(report.items, [](const auto& item) { return !item.reason.empty(); });
  return answer(200, limps ? "warn" : "pass", limps ? &report : nullptr);
}

}  // namespace health_detail

std::shared_ptr<CheckBoard> CheckBoard::make(std::chrono::milliseconds stale) {
  return std::shared_ptr<CheckBoard>(new CheckBoard(stale));
}

void CheckBoard::add(const std::string& name, run::Readiness& readiness, bool counts) {
  {
    const std::lock_guard lock(mutex_);
    entries_.push_back({name, "has not answered yet", Clock::now()});
  }
  run::Readiness::Check ask = [self = shared_from_this(), name] { return self->reason(name); };
  counts ? readiness.add(name, std::move(ask)) : readiness.add_warning(name, std::move(ask));
}

void CheckBoard::answered(std::string_view name, const std::expected<void, Error>& answer) {
  const std::lock_guard lock(mutex_);
  const auto entry = std::ranges::find(entries_, name, &Entry::name);
  if (entry == entries_.end()) return;
  entry->reason = answer ? std::string() : answer.error().message;
  if (!answer && entry->reason.empty()) entry->reason = "failed";
  entry->at = Clock::now();
}

std::string CheckBoard::reason(std::string_view name) const {
  const std::lock_guard lock(mutex_);
  const auto entry = std::ranges::find(entries_, name, &Entry::name);
  if (entry == entries_.end()) return "is not known";
  const auto silent = std::chrono::floor<std::chrono::seconds>(Clock::now() - entry->at);
  if (entry->reason.empty() && Clock::now() - entry->at > stale_)
    return fmt::format("has not answered for {} s", silent.count());
  return entry->reason;
}

std::vector<Route> health_routes(const std::shared_ptr<const run::Readiness>& readiness) {
  const RouteOptions options{.on_io_thread = true, .quiet = true};
  const auto was_ready = std::make_shared<std::atomic<bool>>(false);
  const Handler live = [](Call&) { return health_detail::answer(200, "pass", nullptr); };
  const Handler ready = [readiness](Call&) { return health_detail::ready(readiness->report()); };
  const Handler both = [readiness, was_ready](Call&) {
    const auto report = readiness->report();
    if (report.ready) *was_ready = true;
    http::Response response = health_detail::ready(report);
    if (report.ready || report.stopping || !*was_ready) return response;
    return health_detail::answer(200, "warn", &report);
  };
  return {{"GET", "/health", both, options},
          {"GET", "/healthz", both, options},
          {"GET", "/v1/health", both, options},
          {"GET", "/v1/health/live", live, options},
          {"GET", "/v1/health/ready", ready, options}};
}

Route metrics_route(const metrics::Registry& registry, std::string_view path) {
  return {
      "GET", path, [&registry](Call&) { return run::metrics_answer(registry); }, {.on_io_thread = true, .quiet = true}};
}

}  // namespace stackgate::web
