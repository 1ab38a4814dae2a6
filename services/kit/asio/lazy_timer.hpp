// A timer for deadlines that mostly move and seldom come.
#pragma once
#include <chrono>
#include <functional>
#include <utility>

#include <boost/asio/io_context.hpp>
#include <boost/asio/steady_timer.hpp>

namespace stackgate {

/// Not thread-safe: for the context's thread. Setting it costs a timerfd_settime(2), some 10 us on a virtual machine,
/// only when the deadline is earlier than the one that the kernel knows.
class LazyTimer {
 public:
  using Clock = std::chrono::steady_clock;
  LazyTimer(boost::asio::io_context& context, std::function<void()> then) : timer_(context), then_(std::move(then)) {}
  void set(Clock::time_point due) {
    due_ = due;
    if (due_ < armed_) arm();
  }

 private:
  void arm() {
    armed_ = due_;
    timer_.expires_at(armed_);
    timer_.async_wait([this](const auto& error) {
      if (error) return;
      armed_ = Clock::time_point::max();
      if (due_ <= Clock::now()) {
        due_ = Clock::time_point::max();
        then_();
      } else if (due_ < armed_) {
        arm();
      }
    });
  }

  boost::asio::steady_timer timer_;
  const std::function<void()> then_;
  Clock::time_point due_ = Clock::time_point::max(), armed_ = Clock::time_point::max();
};

}  // namespace stackgate
