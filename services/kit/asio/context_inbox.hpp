// An io_context and the tasks for its thread.
#pragma once
#include <cerrno>
#include <cstdint>
#include <system_error>

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
  void wake() override {
    if (context.get_executor().running_in_this_thread()) {
      boost::asio::post(context, [this] { run_tasks(); });
    } else {
      const std::uint64_t one = 1;
      (void)!::write(woken_.native_handle(), &one, sizeof one);  // fails only when it is full of wake-ups
    }
  }

 private:
  void wait() {
    woken_.async_wait(boost::asio::posix::descriptor_base::wait_read, [this](const auto& failed) {
      if (failed) return;
      std::uint64_t wakes = 0;
      (void)!::read(woken_.native_handle(), &wakes, sizeof wakes);
      run_tasks();
      wait();
    });
  }

  boost::asio::posix::stream_descriptor woken_{context};
};

}  // namespace stackgate
