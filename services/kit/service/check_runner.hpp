// Asks the checks of a service again and again, each on a thread of its own, and puts the answers on the board that
// probes read. Thread-safe.
#pragma once
#include <chrono>
#include <list>
#include <memory>
#include <optional>
#include <vector>

#include "services/kit/metrics/registry.hpp"
#include "services/kit/run/periodic.hpp"
#include "services/kit/service/service.hpp"
#include "services/kit/web/health.hpp"

namespace stackgate::service {

struct CheckTimes {
  std::chrono::milliseconds limit{2'000};        // for one answer
  std::chrono::milliseconds after_good{3'000};   // until it is asked again
  std::chrono::milliseconds after_fault{1'000};  // likewise
};

class CheckRunner {
 public:
  /// Asks at once. Shows stackgate_check_up{check} on `registry`, and logs when an answer changes.
  CheckRunner(std::vector<Check> checks, std::shared_ptr<web::CheckBoard> board, run::Readiness& readiness,
              metrics::Registry& registry, CheckTimes times = {});
  /// Waits for what is being asked, so no longer than `limit` where checks keep to it.
  ~CheckRunner();
  CheckRunner(const CheckRunner&) = delete;
  CheckRunner& operator=(const CheckRunner&) = delete;

 private:
  /// Returns the pause until the next time.
  std::chrono::milliseconds ask(const Check& check, metrics::Gauge& up, std::optional<bool>& before);

  const std::vector<Check> checks_;
  const std::shared_ptr<web::CheckBoard> board_;
  const CheckTimes times_;
  std::list<run::Periodic> rounds_;  // last: they use the others
};

}  // namespace stackgate::service
