#include "services/kit/run/periodic.hpp"

namespace stackgate::run {

Periodic::Periodic(std::chrono::milliseconds first, Round round)
    : round_(std::move(round)), thread_([this, first](const std::stop_token& stop) { run(first, stop); }) {}

void Periodic::wake() {
  {
    const std::lock_guard lock(mutex_);
    woken_ = true;
  }
  changed_.notify_all();
}

void Periodic::run(std::chrono::milliseconds first, const std::stop_token& stop) {
  auto pause = first;
  while (true) {
    {
      std::unique_lock lock(mutex_);
      changed_.wait_for(lock, stop, pause, [this] { return woken_; });
      woken_ = false;
    }
    if (stop.stop_requested()) return;
    pause = round_(stop);
  }
}

}  // namespace stackgate::run
