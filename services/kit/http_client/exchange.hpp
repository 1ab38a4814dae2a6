// One request and its answer, as the engine sees them: no repetition, no redirects.
#pragma once
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace stackgate::http_client {

using Headers = std::vector<std::pair<std::string, std::string>>;

/// PEM text, or the file it is read from at each new connection (so that a rotated file is picked up), or neither.
struct Pem {
  std::string text;
  std::string file;
  bool empty() const { return text.empty() && file.empty(); }
};

struct Tls {
  Pem ca;                // empty: the system's authorities
  Pem certificate, key;  // of the client; empty: none
  bool skip_verification = false;
  std::string server_name;  // in the server's certificate, where it differs from the URL's host
};

/// 0: no limit.
struct Deadlines {
  std::chrono::milliseconds connect{5'000};  // with name resolution and TLS
  std::chrono::milliseconds head{0};         // from sending to the answer's head, connecting included
  std::chrono::milliseconds pause{60'000};   // without a byte in either direction, while we want one
  std::chrono::milliseconds whole{0};        // of the exchange
};

/// How connections are made; those of equal settings are shared.
struct Connecting {
  Tls tls{};
  std::optional<std::string> proxy{};  // a URL; empty text: none. Without a value those of the environment are used
  bool http2 = false;                  // where the server offers it over TLS: streams then share a connection
  bool public_addresses_only = false;
};

/// How many bytes of a body are received at once: up to 16 KiB, unless it is known that they come as single events, for
/// thousands of which there should be memory, or as one large body.
enum class Pieces : std::uint8_t { usual, small, large };

struct ExchangeRequest {
  std::string method = "GET";
  std::string url;  // http or https; escaped already
  Headers headers{};
  // Not copied: the receiver, or its caller, holds them until done().
  std::span<const Headers::value_type> more_headers{};  // behind the others
  std::string_view body{};
  bool uploads = false;                         // the body comes from Receiver::fill() instead
  std::optional<std::uint64_t> upload_bytes{};  // of an upload; chunked without it
  Deadlines deadlines{};
  std::size_t largest_head = 256 * 1024;
  Pieces pieces = Pieces::usual;  // of the answer's body
  bool endless = false;           // a watch: most of the time nothing comes
  bool fresh_connection = false;  // after a time-out: the kept connection may be dead
  std::shared_ptr<const Connecting> connecting{};
};

struct Head {
  int status = 0;
  Headers headers;
  bool http2 = false;
  /// The first of that name, without case.
  std::optional<std::string_view> header(std::string_view name) const;
};

enum class Failure : std::uint8_t {
  unreachable,  // nothing was sent: no such host, connection refused, TLS refused, no connection in time
  timed_out,    // sent, and a deadline passed: it may have been carried out
  interrupted,  // sent, and the connection broke: it may have been carried out
  cancelled,    // by cancel() or by the end of the engine
  stopped,      // by the receiver
  unusable,     // trying again would not help: URL, certificate, address not public, head too large
};

struct ExchangeError {
  Failure failure = Failure::interrupted;
  std::string message;  // may hold secrets of the URL: see scrub()
  /// A byte of the request may have gone out.
  bool sent = failure != Failure::unreachable;
};

enum class Taken : std::uint8_t {
  all,
  none,  // back-pressure: nothing more comes until Engine::resume(), which brings the same bytes again
  stop,  // done() follows with `stopped`
};

/// Receives one answer, on the engine's thread: it must not block nor throw; of the engine it may call everything.
class Receiver {
 public:
  static constexpr std::ptrdiff_t fill_later = -1, fill_failed = -2;

  virtual ~Receiver() = default;
  /// Before anything is sent: completes the request with what must be fresh, or refuses it, which done() then gets.
  virtual std::optional<ExchangeError> begin(ExchangeRequest& /*request*/) { return std::nullopt; }
  /// Status and headers are there, informational ones (1xx) and those of a proxy aside; the body may come much later.
  /// The headers may be moved away: later calls get what is left.
  virtual void head(Head& /*head*/) {}
  /// Body bytes as they come.
  virtual Taken data(const Head& head, std::string_view bytes) = 0;
  /// Puts bytes to be sent into `space` and returns how many; 0: the end; fill_later: Engine::resume() will follow.
  virtual std::ptrdiff_t fill(char* /*space*/, std::size_t /*size*/) { return 0; }
  /// A kept connection was dead: fill() is to begin anew. False where it cannot.
  virtual bool rewind() { return false; }
  /// Once, always, as the last call. `error` is nullptr when an answer was received whole, whatever its status.
  virtual void done(const Head& head, const ExchangeError* error) = 0;
};

}  // namespace stackgate::http_client
