#include "services/kit/http/loop.hpp"

#include <algorithm>
#include <cerrno>
#include <cstring>

#include <fmt/format.h>
#include <sys/epoll.h>
#include <sys/eventfd.h>
#include <unistd.h>

#include "services/kit/log/log.hpp"

namespace stackgate::http {
namespace loop_detail {

constexpr int events_per_round = 256;
thread_local const char thread_mark = 0;  // its address names the thread

}  // namespace loop_detail

std::expected<std::unique_ptr<Loop>, Error> Loop::make() {
  std::unique_ptr<Loop> loop(new Loop);
  loop->epoll_ = ::epoll_create1(EPOLL_CLOEXEC);
  loop->wake_ = ::eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
  epoll_event event{};
  event.events = EPOLLIN;
  event.data.ptr = nullptr;  // the wake-up
  if (loop->epoll_ < 0 || loop->wake_ < 0 || ::epoll_ctl(loop->epoll_, EPOLL_CTL_ADD, loop->wake_, &event) != 0) {
    return std::unexpected(Error{fmt::format("cannot make an event loop: {}", std::strerror(errno))});
  }
  return loop;
}

Loop::~Loop() {
  if (wake_ >= 0) ::close(wake_);
  if (epoll_ >= 0) ::close(epoll_);
}

bool Loop::on_this_thread() const { return thread_.load(std::memory_order_relaxed) == &loop_detail::thread_mark; }

void Loop::run() {
  thread_ = &loop_detail::thread_mark;
  epoll_event events[loop_detail::events_per_round];
  for (;;) {
    const int count = ::epoll_wait(epoll_, events, loop_detail::events_per_round, wait_ms());
    now_ = Clock::now();
    const log::Batch lines;  // of all that is ready now
    bool woken = false;
    for (int i = 0; i < count; ++i) {
      if (events[i].data.ptr == nullptr) {
        woken = true;
      } else {
        static_cast<Watcher*>(events[i].data.ptr)->on_event(events[i].events);
      }
    }
    run_deadlines();
    if (woken) {
      std::uint64_t ignored = 0;
      (void)!::read(wake_, &ignored, sizeof ignored);
      run_tasks();
    }
    end_round();
    if (woken) {
      const std::lock_guard lock(mutex_);
      if (stopped_) break;
    }
  }
  thread_ = nullptr;
}

int Loop::wait_ms() const {
  if (queue_.empty()) return -1;
  const auto left = std::chrono::ceil<std::chrono::milliseconds>(queue_.begin()->first - Clock::now()).count();
  return static_cast<int>(std::clamp<std::int64_t>(left, 0, 60'000));
}

void Loop::run_tasks() {
  std::vector<std::move_only_function<void()>> tasks;
  {
    const std::lock_guard lock(mutex_);
    tasks.swap(tasks_);
  }
  for (auto& task : tasks) task();
}

void Loop::run_deadlines() {
  while (!queue_.empty() && queue_.begin()->first <= now_) {
    Watcher& watcher = *queue_.begin()->second;
    const auto node = queue_.extract(queue_.begin());
    watcher.is_queued_ = false;
    if (watcher.deadline_ > now_) {
      if (watcher.deadline_ != Clock::time_point::max()) set_deadline(watcher, watcher.deadline_);
      continue;
    }
    watcher.deadline_ = Clock::time_point::max();
    watcher.on_deadline();
  }
}

void Loop::post(std::move_only_function<void()> task) {
  {
    const std::lock_guard lock(mutex_);
    if (stopped_) return;
    tasks_.push_back(std::move(task));
    if (tasks_.size() > 1) return;  // woken already
  }
  const std::uint64_t one = 1;
  (void)!::write(wake_, &one, sizeof one);
}

void Loop::stop() {
  std::vector<std::move_only_function<void()>> dropped;  // destroyed outside the lock: tasks may own anything
  {
    const std::lock_guard lock(mutex_);
    stopped_ = true;
    dropped.swap(tasks_);
  }
  const std::uint64_t one = 1;
  (void)!::write(wake_, &one, sizeof one);
}

bool Loop::add(int fd, std::uint32_t epoll_events, Watcher& watcher) {
  epoll_event event{};
  event.events = epoll_events;
  event.data.ptr = &watcher;
  return ::epoll_ctl(epoll_, EPOLL_CTL_ADD, fd, &event) == 0;
}

void Loop::change(int fd, std::uint32_t epoll_events, Watcher& watcher) {
  epoll_event event{};
  event.events = epoll_events;
  event.data.ptr = &watcher;
  ::epoll_ctl(epoll_, EPOLL_CTL_MOD, fd, &event);
}

void Loop::forget(int fd) {
  epoll_event event{};
  ::epoll_ctl(epoll_, EPOLL_CTL_DEL, fd, &event);
}

void Loop::remove(int fd, Watcher& watcher) {
  forget(fd);
  watcher.deadline_ = Clock::time_point::max();
  unqueue(watcher);
}

void Loop::set_deadline(Watcher& watcher, Clock::time_point at) {
  watcher.deadline_ = at;
  if (watcher.is_queued_ && watcher.queued_->first <= at) return;
  unqueue(watcher);
  watcher.queued_ = queue_.emplace(at, &watcher);
  watcher.is_queued_ = true;
}

void Loop::unqueue(Watcher& watcher) {
  if (watcher.is_queued_) queue_.erase(watcher.queued_);
  watcher.is_queued_ = false;
}

}  // namespace stackgate::http
