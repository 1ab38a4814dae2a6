// Health in five spellings, and metrics, as routes.
//
//   /v1/health/live            200 while the process answers; runs no check
//   /v1/health/ready           200, or 503 with the reasons
//   /health, /v1/health,       for all three probes at once: 503 until the service was ready for the first time and
//   /healthz                   again while it stops; in between 200, with status "warn" while something is away, so
//                              that a database that hangs does not make the kubelet restart its users
//   /metrics                   Prometheus text
#pragma once
#include <chrono>
#include <expected>
#include <memory>
#include <mutex>
#include <string>
#include <string_view>
#include <vector>

#include "services/kit/base/error.hpp"
#include "services/kit/metrics/registry.hpp"
#include "services/kit/run/readiness.hpp"
#include "services/kit/web/route.hpp"

namespace stackgate::web {

/// The last results of checks that run in the background; reading never waits. Thread-safe.
class CheckBoard : public std::enable_shared_from_this<CheckBoard> {
 public:
  using Clock = std::chrono::steady_clock;
  /// A check without a result for `stale` counts as failed: it hangs.
  static std::shared_ptr<CheckBoard> make(std::chrono::milliseconds stale = std::chrono::seconds(30));
  /// Not good until its first answer. Call before serving. `counts`: a fault makes the process not ready; else it is
  /// shown only.
  void add(const std::string& name, run::Readiness& readiness, bool counts = true);
  void answered(std::string_view name, const std::expected<void, Error>& answer);

 private:
  struct Entry {
    std::string name, reason;
    Clock::time_point at;
  };
  explicit CheckBoard(std::chrono::milliseconds stale) : stale_(stale) {}
  std::string reason(std::string_view name) const;

  const std::chrono::milliseconds stale_;
  mutable std::mutex mutex_;
  std::vector<Entry> entries_;
};

/// `readiness` is asked on the I/O thread. Quiet routes.
std::vector<Route> health_routes(const std::shared_ptr<const run::Readiness>& readiness);
/// GET `path`. `registry` must outlive the App.
Route metrics_route(const metrics::Registry& registry, std::string_view path = "/metrics");

}  // namespace stackgate::web
