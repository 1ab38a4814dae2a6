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
#include "services/kit/http_client/engine.hpp"
#include "services/kit/kube/api_error.hpp"
#include "services/kit/kube/config.hpp"
#include "services/kit/kube/request.hpp"

namespace stackgate::kube {

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

/// One exchange with the server, watches included: reported when the answer begins or when there will be none.
struct SeenCall {
  std::string_view verb, resource, subresource;  // see RequestInfo
  int code = 0;                                  // HTTP status; 0: no answer
  Failure failure = Failure::none;               // then why
  std::chrono::microseconds duration{0};         // from send() to the answer's head
};

using http_client::ExchangeId;

class Transport {
 public:
  /// Called once for each exchange that was sent, on the transport's thread: it must return at once.
  using Observer = std::function<void(const SeenCall&)>;

  /// Starts the thread. No connection is made yet. Fails on unusable settings only.
  static std::expected<std::unique_ptr<Transport>, Error> start(Config config, Observer observer = {});
  /// Ends what is under way (done() with `cancelled`) and joins the thread.
  ~Transport();

  const Config& config() const;

  /// From any thread.
  ExchangeId send(Request request, std::shared_ptr<Receiver> receiver);
  /// From any thread; done() follows with `cancelled` unless the exchange has ended.
  void cancel(ExchangeId id);
  /// Runs `task` on the transport's thread, now or later. From any thread. Tasks that are still waiting when the
  /// transport ends are dropped.
  void run(std::function<void()> task);
  void run_after(std::chrono::milliseconds delay, std::function<void()> task);
  /// The same, blocking until it has run; at once on the transport's own thread.
  void run_and_wait(const std::function<void()>& task);
  bool on_own_thread() const;

  using Stats = http_client::Engine::Stats;
  Stats stats() const;

 private:
  struct Impl;
  explicit Transport(std::unique_ptr<Impl> impl);
  std::unique_ptr<Impl> impl_;
};

}  // namespace stackgate::kube
