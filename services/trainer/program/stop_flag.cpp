#include "services/trainer/program/stop_flag.hpp"

#include <atomic>
#include <csignal>

#include <signal.h>

namespace stackgate::trainer {
namespace stop_flag_detail {

std::atomic<bool> asked = false;
static_assert(std::atomic<bool>::is_always_lock_free);

extern "C" void ask(int) { asked = true; }

}  // namespace stop_flag_detail

void watch_stop_signals() {
  struct sigaction action{};
  action.sa_handler = stop_flag_detail::ask;
  action.sa_flags = SA_RESTART;
  ::sigaction(SIGTERM, &action, nullptr);
  ::sigaction(SIGINT, &action, nullptr);
  std::signal(SIGPIPE, SIG_IGN);
}

bool stop_asked() { return stop_flag_detail::asked; }

}  // namespace stackgate::trainer
