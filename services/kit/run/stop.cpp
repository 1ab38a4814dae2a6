#include "services/kit/run/stop.hpp"

#include <cerrno>
#include <cstring>

#include <pthread.h>
#include <sys/resource.h>

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

void stop_gracefully(StopSignals& signals, Readiness& readiness, http::Server& server, const DrainPlan& plan) {
  readiness.begin_shutdown();
  log::info("stopping: not ready any more, still serving", {{"drain_ms", plan.lame_duck.count()}});
  if (const auto second = signals.wait_for(plan.lame_duck)) {
    log::warning("second signal: the drain time is cut short", {{"signal", ::strsignal(*second)}});
  }
  server.drain(plan.limit);
  const auto left = server.stats().connections_open;
  if (left > 0)
    log::warning("stopped with connections open", {{"connections", left}, {"waited_ms", plan.limit.count()}});
}

void raise_file_limit() {
  rlimit limit{};
  if (::getrlimit(RLIMIT_NOFILE, &limit) != 0) return;
  limit.rlim_cur = limit.rlim_max;
  ::setrlimit(RLIMIT_NOFILE, &limit);
}

}  // namespace stackgate::run
