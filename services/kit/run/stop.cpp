#include "services/kit/run/stop.hpp"

#include <algorithm>
#include <cerrno>
#include <cstring>

#include <pthread.h>

#include "services/kit/log/log.hpp"

namespace stackgate::run {

StopSignals::StopSignals() {
  sigemptyset(&signals_);
  sigaddset(&signals_, SIGTERM);
  sigaddset(&signals_, SIGINT);
  pthread_sigmask(SIG_BLOCK, &signals_, &before_);
  ::signal(SIGPIPE, SIG_IGN);
}

StopSignals::~StopSignals() { pthread_sigmask(SIG_SETMASK, &before_, nullptr); }

int StopSignals::wait() {
  int number = 0;
  while (::sigwait(&signals_, &number) != 0) {
  }
  return number;
}

std::optional<int> StopSignals::wait_for(std::chrono::milliseconds limit) {
  const auto until = std::chrono::steady_clock::now() + limit;
  for (;;) {
    const auto left =
        std::chrono::duration_cast<std::chrono::nanoseconds>(until - std::chrono::steady_clock::now()).count();
    if (left <= 0) return std::nullopt;
    const timespec wait{left / 1'000'000'000, left % 1'000'000'000};
    const int number = ::sigtimedwait(&signals_, nullptr, &wait);
    if (number > 0) return number;
    if (errno != EINTR && errno != EAGAIN) return std::nullopt;
  }
}

namespace stop_detail {

// Nobody has called for so long: load balancers have looked away.
constexpr std::chrono::milliseconds quiet_time{1'000};

/// Serves for plan.lame_duck, and on until a quiet time has passed without a new request, but no longer than `until`.
/// A second signal, if one ended it.
std::optional<int> serve_until_quiet(StopSignals& signals, const http::Server& server, const DrainPlan& plan,
                                     std::chrono::steady_clock::time_point until) {
  const auto quiet = std::min(quiet_time, plan.lame_duck);
  if (const auto second = signals.wait_for(plan.lame_duck - quiet)) return second;
  for (;;) {
    const std::uint64_t before = server.stats().requests_total;
    if (const auto second = signals.wait_for(quiet)) return second;
    if (server.stats().requests_total == before) return std::nullopt;
    if (std::chrono::steady_clock::now() + quiet > until) {
      log::warning("requests are still coming; stopping all the same");
      return std::nullopt;
    }
  }
}

}  // namespace stop_detail

void stop_gracefully(StopSignals& signals, Readiness& readiness, http::Server& server, const DrainPlan& plan) {
  const auto began = std::chrono::steady_clock::now();
  readiness.begin_shutdown();
  log::info("stopping: not ready any more, still serving", {{"drain_ms", plan.lame_duck.count()}});
  const auto until = began + plan.lame_duck + plan.limit / 2;
  if (const auto second = stop_detail::serve_until_quiet(signals, server, plan, until)) {
    log::warning("second signal: the drain time is cut short", {{"signal", ::strsignal(*second)}});
  }
  const auto longer = std::chrono::steady_clock::now() - (began + plan.lame_duck);
  const auto limit = std::chrono::ceil<std::chrono::milliseconds>(
      plan.limit - std::clamp<std::chrono::nanoseconds>(longer, {}, plan.limit / 2));
  const auto last = plan.at_limit ? std::min(plan.last_words, limit / 4) : std::chrono::milliseconds(0);
  server.drain(limit - last);
  if (plan.at_limit && server.stats().connections_open > 0) {
    plan.at_limit();
    server.drain(last);
  }
  const auto left = server.stats().connections_open;
  if (left > 0)
    log::warning("stopped with connections open", {{"connections", left}, {"waited_ms", plan.limit.count()}});
}

}  // namespace stackgate::run
