#include "services/kit/base/inbox.hpp"

#include <algorithm>
#include <utility>

namespace stackgate {
namespace inbox_detail {

struct Batch {
  bool is_open = false;
  std::vector<std::shared_ptr<Inbox>> to_wake;
};

Batch& batch() {
  thread_local Batch mine;
  return mine;
}

}  // namespace inbox_detail

bool Inbox::put(Task task) {
  {
    const std::lock_guard lock(mutex_);
    if (is_closed_) return false;
    waiting_.push_back(std::move(task));
    if (std::exchange(wake_, Wake::on_its_way) == Wake::on_its_way) return true;
  }
  wake();  // unlocked: the woken thread takes the core, and wants the lock
  return true;
}

bool Inbox::put_batched(Task task) {
  inbox_detail::Batch& batch = inbox_detail::batch();
  if (!batch.is_open) return put(std::move(task));
  {
    const std::lock_guard lock(mutex_);
    if (is_closed_) return false;
    waiting_.push_back(std::move(task));
    if (wake_ == Wake::on_its_way) return true;
    wake_ = Wake::at_end_of_batch;
  }
  // Also when another thread's batch is to wake it: that one may end later than a Blocking of ours begins.
  auto self = shared_from_this();
  if (std::ranges::find(batch.to_wake, self) == batch.to_wake.end()) batch.to_wake.push_back(std::move(self));
  return true;
}

void Inbox::wake_up() {
  {
    const std::lock_guard lock(mutex_);
    if (wake_ != Wake::at_end_of_batch) return;
    wake_ = Wake::on_its_way;
  }
  wake();
}

void Inbox::run_tasks() {
  {
    const std::lock_guard lock(mutex_);
    wake_ = Wake::none;
    running_.swap(waiting_);
  }
  for (Task& task : running_) {
    task();
    task = nullptr;
  }
  running_.clear();
}

void Inbox::close() {
  const std::lock_guard lock(mutex_);
  is_closed_ = true;
}

WakeBatch::WakeBatch() : is_outer_(!std::exchange(inbox_detail::batch().is_open, true)) {}

WakeBatch::~WakeBatch() {
  if (!is_outer_) return;
  inbox_detail::batch().is_open = false;
  flush();
}

WakeBatch::Blocking::Blocking() : was_open_(std::exchange(inbox_detail::batch().is_open, false)) { flush(); }
WakeBatch::Blocking::~Blocking() { inbox_detail::batch().is_open = was_open_; }

bool WakeBatch::is_waited_for() { return !inbox_detail::batch().to_wake.empty(); }

void WakeBatch::flush() {
  // Whatever goes with an inbox may fill another one.
  for (const auto& inbox : std::exchange(inbox_detail::batch().to_wake, {})) inbox->wake_up();
}

}  // namespace stackgate
