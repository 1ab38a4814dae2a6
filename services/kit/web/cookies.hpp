// Cookies (RFC 6265). Pure.
#pragma once
#include <chrono>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "services/kit/http/message.hpp"

namespace stackgate::web {

/// The first cookie of that name in all Cookie headers, without quotes.
std::optional<std::string_view> find_cookie(const http::Request& request, std::string_view name);

enum class SameSite : std::uint8_t { lax, strict, none };

struct Cookie {
  std::string_view name;
  std::string_view value;  // characters that a cookie cannot hold are percent-encoded
  std::string_view path = "/";
  std::optional<std::chrono::seconds> max_age{};  // nothing: until the browser closes; 0: delete
  bool http_only = true;
  bool secure = false;  // set it where base_url() is https
  SameSite same_site = SameSite::lax;
};

/// The value of Set-Cookie.
std::string format_cookie(const Cookie& cookie);

}  // namespace stackgate::web
