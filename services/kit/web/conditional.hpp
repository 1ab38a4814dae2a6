// Conditional requests (RFC 9110, 13). Pure.
#pragma once
#include <chrono>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "services/kit/http/message.hpp"

namespace stackgate::web {

/// What identifies the content that would be sent.
struct Validators {
  std::string etag{};                                  // as sent: "\"abc\"", "W/\"abc\""; empty: none
  std::optional<std::chrono::sys_seconds> modified{};  // Last-Modified
};

enum class Precondition : std::uint8_t {
  proceed,
  not_modified,  // 304 for GET and HEAD
  failed,        // 412
};

/// In the order of RFC 9110, 13.2.2: If-Match, If-Unmodified-Since, If-None-Match, If-Modified-Since. `exists`: whether
/// there is any content yet ("If-None-Match: *" creates, "If-Match: *" changes).
Precondition check_preconditions(const http::Request& request, const Validators& current, bool exists = true);

/// Whether a Range header counts: there is no If-Range, or it names exactly this content (13.1.5: strong comparison; a
/// date must equal Last-Modified, which counts as strong only when it is older than a minute).
bool range_still_holds(const http::Request& request, const Validators& current, std::chrono::sys_seconds now);

/// `opaque` in quotes; what may not stand in an entity tag is left out.
std::string make_etag(std::string_view opaque, bool weak = false);
/// 13.1.1, 13.1.2: whether the list of a header holds `etag`, or is "*". Lists that break the grammar hold nothing.
bool etag_listed(std::string_view list, std::string_view etag, bool weak_comparison);

}  // namespace stackgate::web
