#include "services/kit/run/per_client_pool.hpp"

#include <algorithm>
#include <system_error>
#include <utility>

namespace stackgate::run {

PerClientPool::PerClientPool(const Limits& limits) : limits_(limits), clock_([this] { watch_the_clock(); }) {}

PerClientPool::~PerClientPool() {
  {
    const std::lock_guard lock(mutex_);
    stopping_ = true;
  }
  wake_.notify_all();
  tick_.notify_all();
  clock_.join();
  threads_.clear();  // joins while what they use still exists
}

PerClientPool::Job PerClientPool::submit(const std::string& share, Job job) {
  const std::lock_guard lock(mutex_);
  if (stopping_ || waiting_.size() >= limits_.waiting) return job;
  Share& mine = shares_[share];
  if (mine.waiting >= limits_.waiting_per_share) return job;
  if (mine.running < limits_.per_share && idle_ <= waiting_.size() && threads_.size() < limits_.threads) {
    try {
      threads_.emplace_back([this] { work(); });
    } catch (const std::system_error&) {  // those that are there will do
      if (threads_.empty()) {
        forget_if_unused(share);
        return job;
      }
    }
  }
  ++mine.waiting;
  waiting_.push_back({share, std::move(job), Clock::now() + limits_.patience});
  wake_.notify_one();
  if (waiting_.size() == 1) tick_.notify_one();
  return nullptr;
}

PerClientPool::Load PerClientPool::load() const {
  const std::lock_guard lock(mutex_);
  return {running_, waiting_.size()};
}

std::list<PerClientPool::Waiting>::iterator PerClientPool::next_to_run() {
  return std::ranges::find_if(
      waiting_, [this](const Waiting& each) { return shares_.at(each.share).running < limits_.per_share; });
}

PerClientPool::Waiting PerClientPool::take(std::list<Waiting>::iterator place) {
  Waiting taken = std::move(*place);
  waiting_.erase(place);
  --shares_.at(taken.share).waiting;
  return taken;
}

void PerClientPool::forget_if_unused(const std::string& share) {
  const auto found = shares_.find(share);
  if (found->second.running == 0 && found->second.waiting == 0) shares_.erase(found);
}

void PerClientPool::work() {
  std::unique_lock lock(mutex_);
  for (;;) {
    auto next = waiting_.end();
    ++idle_;
    wake_.wait(lock, [&] { return stopping_ || (next = next_to_run()) != waiting_.end(); });
    --idle_;
    if (stopping_) return;
    Waiting taken = take(next);
    ++running_;
    ++shares_.at(taken.share).running;
    lock.unlock();
    taken.job(true);
    lock.lock();
    --running_;
    --shares_.at(taken.share).running;
    forget_if_unused(taken.share);
  }
}

void PerClientPool::watch_the_clock() {
  std::unique_lock lock(mutex_);
  while (!stopping_) {
    if (waiting_.empty()) {
      tick_.wait(lock);
      continue;
    }
    const auto until = waiting_.front().until;
    if (Clock::now() < until) {
      tick_.wait_until(lock, until);
      continue;
    }
    Waiting late = take(waiting_.begin());
    forget_if_unused(late.share);
    lock.unlock();
    late.job(false);
    lock.lock();
  }
  std::list<Waiting> left = std::exchange(waiting_, {});
  lock.unlock();
  for (Waiting& each : left) each.job(false);
}

}  // namespace stackgate::run
