#include "services/kit/run/pool.hpp"

#include <utility>

namespace stackgate::run {

Pool::Pool(unsigned threads, std::size_t queued) : limit_(queued) {
  threads_.reserve(threads);
  for (unsigned i = 0; i < threads; ++i) threads_.emplace_back([this] { work(); });
}

Pool::~Pool() {
  {
    std::lock_guard lock(mutex_);
    stopping_ = true;
  }
  wake_.notify_all();
  threads_.clear();  // joins while the queue and its lock still exist
}

bool Pool::submit(Task&& task) {
  {
    std::lock_guard lock(mutex_);
    if (stopping_ || queue_.size() >= limit_) return false;
    queue_.push_back(std::move(task));
  }
  wake_.notify_one();
  return true;
}

Pool::Load Pool::load() const {
  const std::lock_guard lock(mutex_);
  return {running_, queue_.size()};
}

void Pool::work() {
  for (;;) {
    Task task;
    {
      std::unique_lock lock(mutex_);
      wake_.wait(lock, [this] { return stopping_ || !queue_.empty(); });
      if (queue_.empty()) return;
      task = std::move(queue_.front());
      queue_.pop_front();
      ++running_;
    }
    task();
    task = {};
    const std::lock_guard lock(mutex_);
    --running_;
  }
}

}  // namespace stackgate::run
