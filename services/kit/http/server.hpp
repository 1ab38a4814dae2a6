// HTTP/1.1 server (RFC 9110, 9112), over TLS or plain. One event loop per thread, each with its own listening socket.
// Asio and Beast under it are not seen from here.
#pragma once
#include <chrono>
#include <cstdint>
#include <expected>
#include <functional>
#include <memory>
#include <optional>
#include <string>

#include "services/kit/base/error.hpp"
#include "services/kit/http/message.hpp"

struct ssl_ctx_st;

namespace stackgate::http {

/// Where a server gets its TLS identity: asked at each new connection, so a renewed certificate is served at once.
/// Thread-safe. See certs/.
class TlsSource {
 public:
  virtual ~TlsSource() = default;
  /// nullptr while there is no good identity yet; such connections are closed.
  virtual std::shared_ptr<ssl_ctx_st> current() const = 0;
};

struct Limits {
  std::size_t head_bytes = 64 * 1024;
  std::size_t body_bytes = 8 * 1024 * 1024;  // 413 beyond it
  std::size_t connections = 10'000;          // the oldest idle one makes room
  std::chrono::milliseconds handshake{10'000};
  std::chrono::milliseconds head{10'000};   // from its first byte to its last
  std::chrono::milliseconds body{30'000};   // likewise
  std::chrono::milliseconds idle{300'000};  // between requests
  std::chrono::milliseconds write{30'000};  // the longest wait for a peer to take `write_progress` of its answer
  /// As BodyPlan::progress: a peer that takes a byte now and then holds its answer's thread for ever.
  std::uint64_t write_progress = 1;
};

/// What becomes of one request's body. The defaults are those of Limits.
struct BodyPlan {
  bool stream = false;                         // Request::stream instead of Request::body
  std::uint64_t body_bytes = 8 * 1024 * 1024;  // 413 beyond it, announced or counted; streamed: 0 means no limit
  std::chrono::milliseconds body{30'000};      // buffered: the whole of it
  std::chrono::milliseconds pause{60'000};     // streamed: the longest wait of one read(); 408 beyond it
  /// Streamed: a pause ends only when so many bytes have come, so that one byte a minute is no progress.
  std::uint64_t progress = 1;
  /// Given at once instead of calling the handler: an unwanted body is not read (and not asked for, if the
  /// client waits for "100 Continue").
  std::optional<Response> refusal{};
};

/// A request that ends here and not at its handler: malformed, too large, too slow.
struct Fault {
  int status = 400;
  std::string_view reason{};         // a sentence
  const Request* request = nullptr;  // its head, without a body; null when it could not be read
  std::string_view peer{};           // "10.0.0.7:41234"
  std::chrono::nanoseconds took{0};  // since its head was here
};

/// What its client reads, in place of a line of text/plain; also where to log it. Called on the I/O thread: must not
/// block. An exception is logged and the line is sent.
using FaultAnswer = std::function<Response(const Fault&)>;

/// Called on the I/O thread when a request's head is here and before its body is: must not block. `stream` and `body`
/// of the request are not set yet. An exception is logged and answered with 500.
using BodyPolicy = std::function<BodyPlan(const Request& head)>;

struct ServerConfig {
  std::string listen = "127.0.0.1:0";  // host:port, [v6]:port, :port for all addresses
  std::shared_ptr<TlsSource> tls{};    // nullptr: plain HTTP
  unsigned threads = 1;                // one event loop each
  Limits limits{};
  BodyPolicy body_policy{};    // none: every body is buffered within `limits`
  FaultAnswer fault_answer{};  // none: text/plain
};

/// Counted by the server, read by /metrics; monotonic except the gauges.
struct ServerStats {
  std::uint64_t connections_total, connections_open, handshakes_total, handshake_failures_total;
  std::uint64_t requests_total, bytes_read_total, bytes_written_total,
      rejected_total;  // rejected: malformed, too large, too slow
};

/// Called on an I/O thread: it must not block (1 ms is much). Work that waits moves the Responder to another thread.
/// An exception that leaves it is logged and answered with 500.
using Handler = std::function<void(const Request&, Responder)>;

class Server {
 public:
  static std::expected<std::unique_ptr<Server>, Error> start(ServerConfig config, Handler handler);
  /// Stops at once if drain() was not called.
  ~Server();

  std::uint16_t port() const;
  ServerStats stats() const;
  /// Stops accepting, answers what is in flight, closes idle connections, and returns when all are closed or the time
  /// is over. Call from outside the I/O threads.
  void drain(std::chrono::milliseconds limit);

 private:
  struct Impl;
  explicit Server(std::unique_ptr<Impl> impl);
  std::unique_ptr<Impl> impl_;
};

}  // namespace stackgate::http
