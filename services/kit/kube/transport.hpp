// HTTP to one API server, on an engine (kit/http_client) of its own: requests and endless streams share few
// connections, HTTP/2 where it is offered. Adds the credentials in force.
#pragma once
#include <chrono>
#include <cstdint>
#include <expected>
#include <functional>
#include <memory>
#include <string>
#include <string_view>

#include "services/kit/base/error.hpp"
#include "services/kit/kube/api_error.hpp"
#include "services/kit/kube/config.hpp"

namespace stackgate::kube {

struct HttpRequest {
  std::string method = "GET";
  std::string path;  // from the first slash, with its query; escaped already
  std::string body;
  std::string content_type;  // sent when there is a body
  std::string accept = "application/json";
  std::chrono::milliseconds timeout{30'000};  // of the whole exchange; 0: none
  std::chrono::milliseconds connect_timeout{5'000};
  bool endless = false;           // a watch: most of the time nothing comes
  bool fresh_connection = false;  // after a stall: the pooled connection may be dead
};

struct HttpHead {
  int status = 0;
  std::chrono::seconds retry_after{0};
};

struct TransportError {
  Failure failure = Failure::none;  // unreachable, timed_out, interrupted, credentials or cancelled
  std::string message;
};

/// Receives one answer, on the transport's thread: it must not block.
class Receiver {
 public:
  virtual ~Receiver() = default;
  /// The status line and headers are there; the body may come much later.
  virtual void head(const HttpHead& /*head*/) {}
  /// Body bytes as they come. False ends the exchange (done() is then called with `cancelled`).
  virtual bool data(const HttpHead& head, std::string_view bytes) = 0;
  /// Once, always, as the last call. `error` is nullptr when an answer was received whole, whatever its status.
  virtual void done(const HttpHead& head, const TransportError* error) = 0;
};

using ExchangeId = std::uint64_t;

class Transport {
 public:
  /// Called once for each exchange that was sent, on the transport's thread, when its answer begins (`status`) or when
  /// there will be none (`failure`); `duration` counts from send(). It must return at once.
  using Observer =
      std::function<void(const HttpRequest& request, int status, Failure failure, std::chrono::microseconds duration)>;

  /// Starts the thread. No connection is made yet. Fails on unusable settings only.
  static std::expected<std::unique_ptr<Transport>, Error> start(Config config, Observer observer = {});
  /// Ends what is under way (done() with `cancelled`) and joins the thread.
  ~Transport();

  const Config& config() const;

  /// From any thread.
  ExchangeId send(HttpRequest request, std::shared_ptr<Receiver> receiver);
  /// From any thread; done() follows with `cancelled` unless the exchange has ended.
  void cancel(ExchangeId id);
  /// Runs `task` on the transport's thread, now or later. From any thread. Tasks that are still waiting when the
  /// transport ends are dropped.
  void run(std::function<void()> task);
  void run_after(std::chrono::milliseconds delay, std::function<void()> task);
  bool on_own_thread() const;

  /// Connections opened so far, answers received over HTTP/2, and connections closed because nothing came over them
  /// before a deadline.
  struct Stats {
    std::uint64_t connections_total = 0, http2_answers_total = 0, stalled_connections_total = 0;
  };
  Stats stats() const;

 private:
  struct Impl;
  explicit Transport(std::unique_ptr<Impl> impl);
  std::unique_ptr<Impl> impl_;
};

}  // namespace stackgate::kube
