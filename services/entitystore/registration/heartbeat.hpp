// Keeps a row's lease while one long call is made: a file of gigabytes takes longer than a lease lasts.
#pragma once
#include <chrono>
#include <condition_variable>
#include <mutex>
#include <string>
#include <thread>

#include "services/entitystore/adapters/rows.hpp"

namespace stackgate::entitystore {

class Heartbeat {
 public:
  Heartbeat(sql::Database& database, std::string id, Lease lease)
      : thread_([this, &database, id = std::move(id), lease = std::move(lease)] {
          const auto period = std::chrono::milliseconds(std::max<std::int64_t>(lease.seconds * 1000 / 3, 100));
          std::unique_lock lock(mutex_);
          while (!changed_.wait_for(lock, period, [this] { return stopping_; })) {
            lock.unlock();
            (void)renew_lease(database, id, lease);  // a database that is away is met again at the next step
            lock.lock();
          }
        }) {}
  ~Heartbeat() {
    {
      const std::lock_guard lock(mutex_);
      stopping_ = true;
    }
    changed_.notify_all();
  }
  Heartbeat(const Heartbeat&) = delete;
  Heartbeat& operator=(const Heartbeat&) = delete;

 private:
  std::mutex mutex_;
  std::condition_variable changed_;
  bool stopping_ = false;
  std::jthread thread_;  // the last member: it uses the others
};

}  // namespace stackgate::entitystore
