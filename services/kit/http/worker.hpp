// One thread of a server: its loop, its listening socket, its connections, and what they share without a lock.
#pragma once
#include <atomic>
#include <condition_variable>
#include <ctime>
#include <list>
#include <memory>
#include <mutex>
#include <string>

#include "services/kit/http/buffer.hpp"
#include "services/kit/http/loop.hpp"
#include "services/kit/http/server.hpp"

namespace stackgate::http {

class Connection;
using Connections = std::list<std::shared_ptr<Connection>>;

/// A number that one thread writes and any thread reads.
class Tally {
 public:
  void add(std::uint64_t n = 1) { value_.store(value_.load(std::memory_order_relaxed) + n, std::memory_order_relaxed); }
  std::uint64_t get() const { return value_.load(std::memory_order_relaxed); }

 private:
  std::atomic<std::uint64_t> value_{0};
};

struct Tallies {
  Tally connections, handshakes, handshake_failures, requests, bytes_read, bytes_written, rejected;
};

/// What all workers of a server share.
struct Shared {
  ServerConfig config;
  Handler handler;
  std::atomic<std::size_t> open{0};
  std::atomic<std::uint64_t> streamed_in{0}, streamed_out{0};  // bytes that handlers' threads moved
  std::mutex mutex;
  std::size_t drained = 0;             // workers that accept no more; under the mutex
  std::condition_variable all_closed;  // notified when `open` becomes 0 or `drained` grows
};

class Worker final : public Watched {
 public:
  /// Takes the listening socket.
  Worker(std::shared_ptr<Shared> shared, std::unique_ptr<Loop> loop, int listener);
  ~Worker() override;

  /// Serves on the calling thread until loop().stop(); then drops every connection.
  void run();
  /// On the loop's thread: accepts no more, closes what is idle, answers the rest with "Connection: close".
  void drain();

  Loop& loop() { return *loop_; }
  Shared& shared() { return *shared_; }
  const Limits& limits() const { return shared_->config.limits; }
  Tallies& tallies() { return tallies_; }
  BufferPool& pool() { return pool_; }
  std::string& scratch() { return scratch_; }
  /// From any thread.
  bool draining() const { return draining_.load(std::memory_order_relaxed); }
  /// Now, as the Date header wants it.
  std::string_view date();

  // A connection is in one of these lists, each ordered by the time of entry.
  Connections& idle() { return idle_; }          // between requests
  Connections& greeting() { return greeting_; }  // handshake, or part of a request has come
  Connections& busy() { return busy_; }          // handler, answer, shutdown
  void closed(Connections& list, Connections::iterator place);

  /// At most one line in ten seconds for what a stranger can cause at will.
  bool may_complain();

 private:
  void on_event(Event event) override;
  void on_deadline() override;
  bool accept_one();
  bool make_room();
  void adopt(int fd, std::string peer);

  const std::shared_ptr<Shared> shared_;
  const std::unique_ptr<Loop> loop_;
  int listener_;
  bool pausing_ = false;  // no descriptors: accepts nothing for a moment
  std::atomic<bool> draining_ = false;
  Tallies tallies_;
  BufferPool pool_;
  std::string scratch_;  // the answer being written
  Connections idle_, greeting_, busy_;
  std::string date_;
  std::time_t date_second_ = -1;
  Clock::time_point complained_{};
};

}  // namespace stackgate::http
