// Times as text: RFC 3339, as Kubernetes, JSON documents and our tables hold them, and HTTP's dates. Pure.
#pragma once
#include <chrono>
#include <optional>
#include <string>
#include <string_view>

namespace stackgate {

/// "2026-01-31T09:08:07Z"; the other with a fraction of at most 6 digits, cut. Texts of one length sort as their times.
std::string to_rfc3339(std::chrono::sys_seconds time);
std::string to_rfc3339(std::chrono::sys_time<std::chrono::nanoseconds> time, int digits = 0);

/// With or without a fraction, which is dropped, and an offset. Nothing for any other text and dates that no calendar
/// has.
std::optional<std::chrono::sys_seconds> from_rfc3339(std::string_view text);

/// "Sun, 06 Nov 1994 08:49:37 GMT": IMF-fixdate (RFC 9110, 5.6.7).
std::string to_http_date(std::chrono::sys_seconds time);

/// All three forms of RFC 9110, 5.6.7, without blanks around them.
std::optional<std::chrono::sys_seconds> from_http_date(std::string_view text);

}  // namespace stackgate
