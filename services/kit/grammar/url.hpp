// URLs with an authority: scheme "://" [user-info "@"] host [":" port] path ["?" query] ["#" fragment].
// Source: RFC 3986.
#pragma once
#include <cstdint>
#include <expected>
#include <optional>
#include <string_view>

#include "services/kit/grammar/problem.hpp"

namespace stackgate::validate::grammar {

/// The views point into the text that was parsed, and are as written (not decoded).
struct Url {
  std::string_view scheme;
  std::string_view user_info;  // without '@'
  std::string_view host;       // an IPv6 address without its brackets
  std::optional<std::uint16_t> port;
  std::string_view path;      // with its '/'
  std::string_view query;     // without '?'
  std::string_view fragment;  // without '#'
  bool has_user_info = false;
  bool v6 = false;
};

/// Any scheme. Beyond the RFC the host must not be empty and a port fits 16 bits. Problems never quote user
/// information.
std::expected<Url, Problem> parse_url(std::string_view text);

/// http or https (any case), a host that check_host() accepts, no user information.
std::expected<Url, Problem> parse_http_url(std::string_view text);

}  // namespace stackgate::validate::grammar
