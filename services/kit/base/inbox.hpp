// Tasks for the thread of an event loop, from any thread. A wake-up costs several microseconds and often gives the
// core to the woken thread at once, so one is for all tasks that wait, and a loop that has more to do wakes others
// last.
#pragma once
#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <mutex>
#include <vector>

namespace stackgate {

/// Held by a shared_ptr. Tasks run in the order in which they came.
class Inbox : public std::enable_shared_from_this<Inbox> {
 public:
  using Task = std::move_only_function<void()>;
  Inbox() = default;
  virtual ~Inbox() = default;
  Inbox(const Inbox&) = delete;
  Inbox& operator=(const Inbox&) = delete;

  // False once it is closed: the task is destroyed without running.
  /// Wakes the loop now.
  bool put(Task task);
  /// Wakes it at the end of the WakeBatch of this thread; now where there is none.
  bool put_batched(Task task);

 protected:
  /// From any thread: makes the loop's thread call run_tasks() soon.
  virtual void wake() = 0;
  /// Runs what is here; not what comes meanwhile.
  void run_tasks();
  void close();

 private:
  friend class WakeBatch;
  enum class Wake : std::uint8_t { none, at_end_of_batch, on_its_way };
  void wake_up();

  std::mutex mutex_;
  std::vector<Task> waiting_;
  Wake wake_ = Wake::none;
  bool is_closed_ = false;
  std::vector<Task> running_;  // the loop's thread only
};

/// While it lives, put_batched() of its thread wakes nobody until the end. For event loops: a round, in which whoever
/// waits for another thread needs a Blocking. One inside another does nothing.
class WakeBatch {
 public:
  WakeBatch();
  ~WakeBatch();
  WakeBatch(const WakeBatch&) = delete;
  WakeBatch& operator=(const WakeBatch&) = delete;

  /// Somebody waits for the end of this thread's batch.
  static bool is_waited_for();

  /// While it lives, its thread may wait for others: they are woken at once.
  class Blocking {
   public:
    Blocking();
    ~Blocking();
    Blocking(const Blocking&) = delete;
    Blocking& operator=(const Blocking&) = delete;

   private:
    const bool was_open_;
  };

 private:
  static void flush();
  const bool is_outer_;
};

}  // namespace stackgate
