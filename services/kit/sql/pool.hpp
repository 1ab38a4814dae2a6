// Connections that wait for work: at most so many, made when needed, waited for no longer than said. Thread-safe.
#pragma once
#include <condition_variable>
#include <functional>
#include <memory>
#include <mutex>
#include <vector>

#include <fmt/format.h>

#include "services/kit/sql/connection.hpp"

namespace stackgate::sql {

class ConnectionPool {
 public:
  using Connect = std::function<Expected<std::unique_ptr<Connection>>(Clock::time_point deadline)>;

  ConnectionPool(unsigned limit, Connect connect) : limit_(limit == 0 ? 1 : limit), connect_(std::move(connect)) {}

  /// Gives its connection back when it goes, or throws it away when that is broken.
  class Lease {
   public:
    Lease(ConnectionPool& pool, std::unique_ptr<Connection> connection)
        : pool_(&pool), connection_(std::move(connection)) {}
    Lease(Lease&& other) noexcept : pool_(other.pool_), connection_(std::move(other.connection_)) {}
    Lease& operator=(Lease&&) = delete;
    ~Lease() {
      if (connection_ != nullptr) pool_->give_back(std::move(connection_));
    }
    Connection* operator->() const { return connection_.get(); }
    Connection& operator*() const { return *connection_; }

   private:
    ConnectionPool* pool_;
    std::unique_ptr<Connection> connection_;
  };

  /// Waits for a free one until `wait_end`; a new one may take until `connect_end` (counted from now, not from the
  /// wait).
  Expected<Lease> acquire(Clock::time_point wait_end, Milliseconds connect_limit) {
    std::unique_lock lock(mutex_);
    if (!free_.wait_until(lock, wait_end, [&] { return !idle_.empty() || open_ < limit_; })) {
      return std::unexpected(SqlError{Fault::busy, "every database session is in use", {}});
    }
    while (!idle_.empty()) {
      auto connection = std::move(idle_.back());
      idle_.pop_back();
      lock.unlock();  // looking at a connection and closing one are system calls
      if (connection->still_good()) return Lease(*this, std::move(connection));
      connection.reset();
      lock.lock();
      --open_;
    }
    ++open_;
    lock.unlock();
    auto made = connect_(Clock::now() + connect_limit);
    if (made) return Lease(*this, *std::move(made));
    lock.lock();
    --open_;
    lock.unlock();
    free_.notify_one();
    return std::unexpected(made.error());
  }

 private:
  void give_back(std::unique_ptr<Connection> connection) {
    connection->rest();
    const bool good = connection->usable();
    if (!good) connection.reset();
    {
      const std::lock_guard lock(mutex_);
      if (good) {
        idle_.push_back(std::move(connection));
      } else {
        --open_;
      }
    }
    free_.notify_one();
  }

  const unsigned limit_;
  const Connect connect_;
  std::mutex mutex_;
  std::condition_variable free_;
  std::vector<std::unique_ptr<Connection>> idle_;  // the last used first: few stay warm
  unsigned open_ = 0;                              // idle and lent
};

}  // namespace stackgate::sql
