// An io_context and the tasks for its thread.
#pragma once
#include <atomic>
#include <cerrno>
#include <cstdint>
#include <system_error>
#include <thread>

#include <boost/asio/buffer.hpp>
#include <boost/asio/io_context.hpp>
#include <boost/asio/posix/stream_descriptor.hpp>
#include <boost/asio/post.hpp>
#include <sys/eventfd.h>
#include <unistd.h>

#include "services/kit/base/inbox.hpp"

namespace stackgate {

/// Asio's post() wakes the context's thread while it holds the lock that this thread takes first: on one core the two
/// change places three times. An eventfd of our own needs no lock.
class ContextInbox : public Inbox {
 public:
  /// Throws std::system_error, or Asio's, when there are no descriptors left.
  explicit ContextInbox(int concurrency_hint) : context(concurrency_hint) {
    const int fd = ::eventfd(0, EFD_NONBLOCK | EFD_CLOEXEC);
    if (fd < 0) throw std::system_error(errno, std::generic_category(), "eventfd");
    woken_.assign(fd);
    wait();
  }

  boost::asio::io_context context;

 protected:
  /// Called once by the thread that runs the context, before it does: what it sends itself costs no system call.
  void run_by_this_thread() { thread_ = std::this_thread::get_id(); }

  void wake() override {
    if (thread_.load(std::memory_order_relaxed) == std::this_thread::get_id()) {
      boost::asio::post(context, [this] { run_tasks(); });
    } else {
      const std::uint64_t one = 1;
      (void)!::write(woken_.native_handle(), &one, sizeof one);  // fails only when it is full of wake-ups
    }
  }

 private:
  void wait() {
    // Not async_wait: Asio registers the descriptor anew for each.
    woken_.async_read_some(boost::asio::buffer(&wakes_, sizeof wakes_), [this](const auto& failed, std::size_t) {
      if (failed) return;
      run_tasks();
      wait();
    });
  }

  std::atomic<std::thread::id> thread_{};
  std::uint64_t wakes_ = 0;  // whose number counts for nothing
  boost::asio::posix::stream_descriptor woken_{context};
};

}  // namespace stackgate
