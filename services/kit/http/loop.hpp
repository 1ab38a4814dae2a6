// One thread's event loop: Asio's io_context, descriptors and timers behind std types, because Asio's headers cost
// seconds in each file that sees them.
#pragma once
#include <chrono>
#include <cstdint>
#include <expected>
#include <functional>
#include <memory>

#include "services/kit/base/error.hpp"
#include "services/kit/base/inbox.hpp"

namespace stackgate::http {

class Loop {
 public:
  using Clock = std::chrono::steady_clock;
  static std::expected<std::unique_ptr<Loop>, Error> make();
  ~Loop();

  /// Runs on the calling thread until stop().
  void run();
  /// After run(), on its thread: lets go of whatever cancelled waits and waiting tasks hold. No task runs from now on.
  void finish();

  // From any thread.
  /// Runs the task on the loop's thread. False after finish(): it is destroyed without running.
  bool post(Inbox::Task task);
  /// The same, but the loop is woken at the end of this thread's WakeBatch.
  bool post_batched(Inbox::Task task);
  void stop();
  bool on_this_thread() const;

 private:
  friend class Watched;
  struct Impl;
  explicit Loop(std::shared_ptr<Impl> impl);
  const std::shared_ptr<Impl> impl_;
};

/// Something with a socket or a deadline. All of it on the loop's thread (or before run()); what is waited for keeps
/// the object alive, until end().
class Watched : public std::enable_shared_from_this<Watched> {
 public:
  using Clock = Loop::Clock;
  /// broken: the other end has left.
  enum class Event : std::uint8_t { readable, writable, broken };
  Watched(const Watched&) = delete;
  Watched& operator=(const Watched&) = delete;

 protected:
  explicit Watched(Loop& loop);
  virtual ~Watched();
  virtual void on_event(Event event) = 0;
  virtual void on_deadline() = 0;

  /// False when the kernel refuses. The socket stays the caller's: unwatch() or end() before close(fd).
  bool watch(int fd);
  /// Nothing is waited for any more, except the deadline.
  void unwatch();
  bool is_watching() const;
  /// on_event() once, as soon as it is so (also if it is so already).
  void wait_for(Event event);
  void set_deadline(Clock::time_point at);
  void clear_deadline();
  /// No call any more. Watches nothing from now on.
  void end();

 private:
  struct Waits;
  void arm_timer();
  std::unique_ptr<Waits> waits_;
};

}  // namespace stackgate::http
