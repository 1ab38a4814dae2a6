// The attempts of a call, and which of them counts.
#pragma once
#include <chrono>
#include <expected>
#include <functional>
#include <optional>
#include <string>
#include <string_view>

#include "services/kit/http_client/client.hpp"

namespace stackgate::http_client {

/// How often Request::give_up is asked, and what the error of a call says that was ended by it.
inline constexpr std::chrono::milliseconds ask_each{250};
inline constexpr std::string_view given_up = "cancelled by the caller";

/// How an attempt ended.
struct Outcome {
  bool reached = true;                            // see Attempt
  int status = 0;                                 // 0: no answer
  std::optional<std::string_view> retry_after{};  // the header
};

/// What holds for all attempts of a call.
struct Persistence {
  const Request& call;
  const std::string& url;
  unsigned retries = 0;
  std::optional<std::chrono::steady_clock::time_point> until{};  // no attempt begins later

  std::optional<std::chrono::milliseconds> left() const;
  /// How long to wait before the next attempt after `made` of them; nothing: this one counts.
  std::optional<std::chrono::milliseconds> wait_after(unsigned made, const Outcome& outcome) const;
  /// "GET http://host/path?…: why (tried 2 times)"; `why` may hold secrets of the URL.
  Error failure(unsigned made, const std::string& why) const;
};

struct AttemptResult {
  std::expected<Response, std::string> result;  // the message may hold secrets of the URL
  bool reached = true;                          // see Attempt
  bool final = false;                           // not to be repeated, whatever it was
};

/// One attempt of a blocking call: the caller's functions run on the caller's thread while the engine moves the bytes
/// (attempt.cpp). `request` is complete but for the upload; throws what the caller's functions throw.
AttemptResult attempt(Engine& engine, const Request& call, ExchangeRequest request);

/// Blocks while it waits between attempts.
std::expected<Response, Error> with_retries(const Persistence& persistence,
                                            const std::function<AttemptResult()>& attempt);

}  // namespace stackgate::http_client
