// HTTP to any number of hosts on one thread: one libcurl multi handle driven by an Asio loop. Thread-safe.
#pragma once
#include <chrono>
#include <cstdint>
#include <expected>
#include <functional>
#include <memory>

#include "services/kit/base/error.hpp"
#include "services/kit/http_client/exchange.hpp"

namespace stackgate::http_client {

using ExchangeId = std::uint64_t;

struct EngineOptions {
  /// Beyond it an exchange waits for a connection, at most for its own deadlines.
  long connections_per_host = 10'000;
  /// Connections kept and in use together; beyond it the one that was idle longest is closed.
  long connections = 10'000;
  /// While eight or more exchanges are under way, bytes are collected for so long and handled together: less CPU for a
  /// burst over a shared connection.
  std::chrono::milliseconds gather{0};
};

class Engine {
 public:
  /// Starts the thread. No connection is made yet.
  static std::expected<std::shared_ptr<Engine>, Error> start(const EngineOptions& options = {});
  /// The process's own, made when first asked for and ended with its last holder. Connections that may lead to public
  /// addresses only are kept apart from others, which could have been opened to any address.
  static std::shared_ptr<Engine> shared(bool public_addresses_only = false);
  /// Ends what is under way with `cancelled` and joins the thread, unless called on it.
  ~Engine();
  Engine(const Engine&) = delete;
  Engine& operator=(const Engine&) = delete;

  ExchangeId send(ExchangeRequest request, std::shared_ptr<Receiver> receiver);
  /// done() follows with `cancelled` unless the exchange has ended.
  void cancel(ExchangeId id);
  /// After Taken::none or fill_later.
  void resume(ExchangeId id);
  /// Runs `task` on the engine's thread later. Tasks that still wait when the engine ends are dropped.
  void run(std::move_only_function<void()> task);
  void run_after(std::chrono::milliseconds delay, std::function<void()> task);
  bool on_own_thread() const;

  struct Stats {
    std::uint64_t connections_total = 0, http2_answers_total = 0;
    std::uint64_t stalled_connections_total = 0;  // closed because nothing came over them before a deadline
  };
  Stats stats() const;

 private:
  struct Impl;
  explicit Engine(std::shared_ptr<Impl> impl);
  std::shared_ptr<Impl> impl_;
};

}  // namespace stackgate::http_client
