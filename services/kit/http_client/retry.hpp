// Whether and when a call is made again. Pure: times and dice come from outside.
#pragma once
#include <chrono>
#include <optional>
#include <string_view>

namespace stackgate::http_client {

/// How one attempt ended.
struct Attempt {
  bool repeatable = false;  // the call may reach the server twice
  bool reached = true;      // false: no connection came about, so nothing can have been done
  int status = 0;           // 0: no reply
};

/// True for what may go away by itself: no connection, a broken one, 408, 429, 502, 503, 504 (RFC 9110, 15.5.9, 15.6;
/// RFC 6585, 4). A call that is not repeatable comes again only when it has not reached the server.
bool may_retry(const Attempt& attempt);

/// GET, HEAD, OPTIONS, PUT, DELETE (RFC 9110, 9.2.2).
bool is_idempotent(std::string_view method);

/// "120" or "Fri, 31 Dec 1999 23:59:59 GMT" (RFC 9110, 10.2.3); a date that has passed is 0. Nothing for other text.
std::optional<std::chrono::seconds> parse_retry_after(std::string_view value,
                                                      std::chrono::system_clock::time_point now);

inline constexpr std::chrono::seconds longest_retry_after{60};

/// The wait before attempt `next` (1 is the first repetition): Retry-After, or else 200 ms doubled each time up to
/// 10 s, of which `dice` (0 to 1) takes up to a half. Nothing: the server asks for more than `longest_retry_after`.
std::optional<std::chrono::milliseconds> wait_before(unsigned next, std::optional<std::chrono::seconds> retry_after,
                                                     double dice);

}  // namespace stackgate::http_client
