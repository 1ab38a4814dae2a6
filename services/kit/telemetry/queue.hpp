// Items waiting to be sent together: bounded, and never in the way of who brings them. Thread-safe.
#pragma once
#include <algorithm>
#include <chrono>
#include <condition_variable>
#include <cstddef>
#include <mutex>
#include <utility>
#include <vector>

namespace stackgate::telemetry {

template <class Item>
class Queue {
 public:
  Queue(std::size_t limit, std::size_t batch) : limit_(limit), batch_(batch) {}

  /// False when it is full, or closed: the item is lost.
  [[nodiscard]] bool push(Item&& item) {
    bool wake = false;
    {
      const std::lock_guard lock(mutex_);
      if (closed_ || items_.size() >= limit_) return false;
      items_.push_back(std::move(item));
      wake = items_.size() == batch_;
    }
    if (wake) wake_.notify_one();
    return true;
  }

  /// Up to one batch: when so many have come, when `delay` is over, or at once after close(). Empty: nothing came.
  std::vector<Item> take(std::chrono::milliseconds delay) {
    std::unique_lock lock(mutex_);
    wake_.wait_for(lock, delay, [this] { return closed_ || items_.size() >= batch_; });
    if (items_.size() <= batch_) return std::exchange(items_, {});
    const auto end = items_.begin() + static_cast<std::ptrdiff_t>(batch_);
    std::vector<Item> out(std::make_move_iterator(items_.begin()), std::make_move_iterator(end));
    items_.erase(items_.begin(), end);
    return out;
  }

  void close() {
    {
      const std::lock_guard lock(mutex_);
      closed_ = true;
    }
    wake_.notify_all();
  }
  bool closed() const {
    const std::lock_guard lock(mutex_);
    return closed_;
  }
  std::size_t size() const {
    const std::lock_guard lock(mutex_);
    return items_.size();
  }

 private:
  const std::size_t limit_, batch_;
  mutable std::mutex mutex_;
  std::condition_variable wake_;
  std::vector<Item> items_;
  bool closed_ = false;
};

}  // namespace stackgate::telemetry
