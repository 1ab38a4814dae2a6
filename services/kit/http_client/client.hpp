// HTTP client for services that call others: streaming both ways, blocking or asynchronous, with deadlines and one
// policy of repetition. Thread-safe.
//
// A call made while a request is served (current_trace()) carries traceparent and tracestate, unless it has them
// already or may only go to public addresses: strangers do not get them.
#pragma once
#include <chrono>
#include <cstdint>
#include <expected>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <utility>

#include "services/kit/base/current_trace.hpp"
#include "services/kit/base/error.hpp"
#include "services/kit/http_client/answer.hpp"
#include "services/kit/http_client/exchange.hpp"

namespace stackgate::http_client {

class Engine;

struct Options {
  std::chrono::milliseconds connect{5'000};
  std::chrono::milliseconds head{0};        // until the answer's head, repetitions included; 0: no limit
  std::chrono::milliseconds pause{60'000};  // the longest time without a byte
  std::chrono::milliseconds whole{0};       // of a call with its repetitions; 0: no limit
  unsigned retries = 3;                     // for what may be repeated: see Request::repeatable
  std::string ca_file{};
  std::string ca_text{};           // PEM; instead of ca_file
  bool skip_verification = false;  // TLS without asking who answers: only where an operator said so in a setting
  /// How many redirects call() follows, and only within the same origin: credentials never leave it. Others are the
  /// reply.
  unsigned redirects = 0;
  /// For URLs that come from outside (SSRF): only addresses of the public Internet, looked at when the socket is
  /// opened, so that a second DNS answer changes nothing. Proxies of the environment are not used then.
  bool public_addresses_only = false;
  std::string user_agent = "stackgate";
  Pem certificate{}, key{};            // the client's own, for mutual TLS
  std::optional<std::string> proxy{};  // a URL; empty text: none. Without a value those of the environment are used
  bool http2 = false;                  // where the server offers it: many small calls share a connection
  std::shared_ptr<Engine> engine{};    // empty: the process's own
};

/// What Request::read_body returns when there is no more to be had although the body is not whole: cancels the call.
inline constexpr std::size_t body_failed = ~std::size_t{0};

/// The functions are called by call(), on its caller's thread; they may block.
struct Request {
  std::string method = "GET";
  std::string url;
  Headers headers{};
  std::string body{};
  /// Instead of `body`: fills the space, 0 is the end. Such a call is repeated only with `rewind`, which returns false
  /// when it cannot.
  std::function<std::size_t(char* space, std::size_t size)> read_body{};
  std::optional<std::uint64_t> body_size{};  // of read_body; chunked without it
  std::function<bool()> rewind{};
  /// Instead of Response::body: false cancels. Called only for a status below 300; once it was, the call is not
  /// repeated.
  std::function<bool(std::string_view)> take_body{};
  std::uint64_t largest_reply = 16 * 1024 * 1024;  // of a reply that is held
  /// GET, HEAD, PUT and DELETE are; set it for a POST that may come twice.
  std::optional<bool> repeatable{};
  std::chrono::milliseconds whole{0};  // overrides Options
  std::chrono::milliseconds head{0};   // overrides Options
  /// Asked a few times a second while the call is under way: true cancels it.
  std::function<bool()> give_up{};
  Pieces pieces = Pieces::usual;  // of what open() gives
};

struct Response : Head {
  std::string body{};
};

class Client {
 public:
  explicit Client(Options options = {});
  ~Client();
  Client(const Client&) = delete;
  Client& operator=(const Client&) = delete;

  /// Blocks. Any status is a reply; an error is a call without one; its message names host and cause and no
  /// credentials.
  std::expected<Response, Error> call(const Request& request) const;

  /// Blocks until the answer's head is there; the body is read from the answer. Of `request`, the functions,
  /// largest_reply and redirects do not count. What passes (see README.md) is repeated until the head that counts.
  std::expected<Answer, Error> open(const Request& request) const;

  /// The same without blocking: `then` is called once, on the engine's thread, where it must not block. Letting go of
  /// what is returned changes nothing.
  Opening open(Request request, OnAnswer then) const;

 private:
  struct Impl;
  std::unique_ptr<Impl> impl_;
};

/// A call that belonged to a trace, once it has ended: what a client span is made of.
struct Traced {
  const CurrentTrace& trace;     // span_id: the caller's
  std::string_view span_id;      // of the call: what the other side got
  std::string_view method, url;  // without secrets
  int status;                    // 0: no reply
  std::string_view error;        // empty with a reply
  std::chrono::system_clock::time_point began;
  std::chrono::nanoseconds took;
};

/// Gets sampled calls, for the whole process; an empty one ends that, and returns when no call is left in it. It
/// must not wait. Thread-safe.
void set_observer(std::function<void(const Traced&)> observer);

}  // namespace stackgate::http_client
