// HTTP client for services that call others: streaming both ways, deadlines, retries with back-off and jitter. libcurl
// stays behind client.cpp. Thread-safe; calls block.
//
// A call made while a request is served (current_trace()) carries traceparent and tracestate, unless it has them
// already or may only go to public addresses: strangers are not told.
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
#include <vector>

#include "services/kit/base/current_trace.hpp"
#include "services/kit/base/error.hpp"

namespace stackgate::fetch {

struct Options {
  std::chrono::milliseconds connect{5'000};
  std::chrono::milliseconds pause{60'000};  // the longest time without a byte
  std::chrono::milliseconds whole{0};       // of a call with its repetitions; 0: no limit
  unsigned retries = 3;                     // for what may be repeated: see Call::repeatable
  std::string ca_file{};
  /// How many redirects are followed, and only within the same origin: credentials never leave it. Others are the
  /// reply.
  unsigned redirects = 0;
  /// For URLs that come from outside (SSRF): only addresses of the public Internet, looked at when the socket is
  /// opened, so that no name server can say one thing and then another. Proxies of the environment are not used then.
  bool public_addresses_only = false;
  std::string user_agent = "stackgate";
};

/// What Call::read_body returns when there is no more to be had although the body is not whole: cancels the call.
inline constexpr std::size_t body_failed = ~std::size_t{0};

struct Call {
  std::string method = "GET";
  std::string url;
  std::vector<std::pair<std::string, std::string>> headers{};
  std::string body{};
  /// Instead of `body`: fills the space, 0 is the end. Such a call is repeated only with `rewind`, which returns false
  /// when it cannot.
  std::function<std::size_t(char* space, std::size_t size)> read_body{};
  std::optional<std::uint64_t> body_size{};  // of read_body; chunked without it
  std::function<bool()> rewind{};
  /// Instead of Reply::body: false cancels. Called only for a status below 300; once it was, the call is not repeated.
  std::function<bool(std::string_view)> take_body{};
  std::uint64_t largest_reply = 16 * 1024 * 1024;  // of a reply that is held
  /// GET, HEAD, PUT and DELETE are; say so for a POST that may come twice.
  std::optional<bool> repeatable{};
  std::chrono::milliseconds whole{0};  // overrides Options
  /// Asked about once a second while the call is under way, on the caller's thread: true cancels it.
  std::function<bool()> give_up{};
};

struct Reply {
  int status = 0;
  std::vector<std::pair<std::string, std::string>> headers;
  std::string body;
  /// The first of that name, without case.
  std::optional<std::string_view> header(std::string_view name) const;
};

class Client {
 public:
  explicit Client(Options options = {});
  ~Client();
  Client(const Client&) = delete;
  Client& operator=(const Client&) = delete;
  /// Any status is a reply; an error is a call that got none, in words that name host and cause and no credentials.
  std::expected<Reply, Error> call(const Call& call);

 private:
  struct Impl;
  std::unique_ptr<Impl> impl_;
};

/// A call that belonged to a trace, once it has ended: what a client span is made of.
struct Traced {
  const CurrentTrace& trace;     // span_id: the caller's
  std::string_view span_id;      // of the call: what the other side was told
  std::string_view method, url;  // without secrets
  int status;                    // 0: no reply
  std::string_view error;        // empty with a reply
  std::chrono::system_clock::time_point began;
  std::chrono::nanoseconds took;
};

/// Hears of sampled calls, for the whole process; an empty one ends that, and returns when no call is left in it. It
/// must not wait. Thread-safe.
void set_observer(std::function<void(const Traced&)> observer);

}  // namespace stackgate::fetch
