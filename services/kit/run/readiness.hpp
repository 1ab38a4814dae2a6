// Readiness as named checks, and liveness, as Kubernetes' own components answer them.
#pragma once
#include <atomic>
#include <functional>
#include <mutex>
#include <string>
#include <vector>

#include "services/kit/http/server.hpp"

namespace stackgate::run {

/// Thread-safe.
class Readiness {
 public:
  /// Asked at each probe, on an I/O thread: quick, and safe to call from there. Empty: good; otherwise the reason.
  using Check = std::function<std::string()>;
  void add(std::string name, Check check);
  /// The same of what limps without making the process useless: it is shown, and does not count.
  void add_warning(std::string name, Check check);
  /// From now on not ready, for good.
  void begin_shutdown() { stopping_ = true; }

  struct Item {
    std::string name, reason;  // reason: empty when good
    bool counts = true;
  };
  struct Report {
    bool ready = false;
    bool stopping = false;
    std::string text;  // "[+]listener ok\n[-]certificate failed: …\n[!]rights: …\n"
    std::vector<Item> items{};
  };
  Report report() const;

 private:
  struct Named {
    std::string name;
    Check check;
    bool counts = true;
  };
  mutable std::mutex mutex_;
  std::vector<Named> checks_;
  std::atomic<bool> stopping_{false};
};

/// /healthz and /livez: 200 while the process can answer. /readyz: 200 or 503 with every check; `?verbose` shows the
/// checks when all is well too. `readiness` must outlive the server.
http::Handler health_handler(const Readiness& readiness);

}  // namespace stackgate::run
