// How a process of ours ends: a signal, not ready any more, the drain time, in-flight requests finished.
#pragma once
#include <chrono>
#include <functional>
#include <optional>

#include <signal.h>

#include "services/kit/http/server.hpp"
#include "services/kit/run/readiness.hpp"

namespace stackgate::run {

/// SIGTERM and SIGINT as something to wait for. Make one at the top of main(), before any thread: threads inherit the
/// mask. SIGPIPE is ignored from then on. The destructor restores the mask (tests need it).
class StopSignals {
 public:
  StopSignals();
  ~StopSignals();
  StopSignals(const StopSignals&) = delete;
  StopSignals& operator=(const StopSignals&) = delete;

  /// The next signal's number.
  int wait();
  /// The same, or nothing when the time is over.
  std::optional<int> wait_for(std::chrono::milliseconds limit);

 private:
  sigset_t signals_{}, before_{};
};

struct DrainPlan {
  /// Still serving but not ready: the time that endpoints need to leave load balancers. While new requests keep coming
  /// (a load balancer that learns late), serving goes on for up to half of `limit` more. A second signal cuts it short.
  std::chrono::milliseconds lame_duck{5'000};
  /// For in-flight requests, after `lame_duck`; what serving on has taken is taken off it.
  std::chrono::milliseconds limit{20'000};
  /// Called when `limit` is nearly over and connections are open: what is in progress should end now. It has
  /// `last_words` of the limit, at most a quarter, and is cut then.
  std::function<void()> at_limit{};
  std::chrono::milliseconds last_words{1'000};
};

/// Call when the first signal has come. Returns when `server` has no connection left or the plan's time is over.
void stop_gracefully(StopSignals& signals, Readiness& readiness, http::Server& server, const DrainPlan& plan);

}  // namespace stackgate::run
