// Hosts, addresses and what is built from them. Addresses and names are checked as text; nothing is resolved.
#pragma once
#include <array>
#include <cstddef>
#include <cstdint>
#include <expected>
#include <optional>
#include <string_view>
#include <vector>

#include "services/kit/grammar/problem.hpp"

namespace stackgate::validate::grammar {

using Ipv4 = std::array<std::uint8_t, 4>;
using Ipv6 = std::array<std::uint8_t, 16>;

/// Dotted decimal, four octets without leading zeros (RFC 3986 IPv4address; Go's net.ParseIP).
std::expected<Ipv4, Problem> parse_ipv4(std::string_view text);

/// RFC 4291 section 2.2, all three forms; without brackets, without a zone.
std::expected<Ipv6, Problem> parse_ipv6(std::string_view text);

struct Cidr {
  bool v6 = false;
  unsigned prefix = 0;
};
/// "10.0.0.0/8", "fd00::/8". Host bits may be set, as Go's net.ParseCIDR has it.
std::expected<Cidr, Problem> parse_cidr(std::string_view text);

/// A domain name (RFC 1123, any case, one dot at the end allowed), an IPv4 address or an IPv6 address in brackets.
/// Digits and dots alone must be a good IPv4 address.
std::optional<Problem> check_host(std::string_view text);

/// 1 to 65535, decimal.
std::expected<std::uint16_t, Problem> parse_port(std::string_view text);

struct HostPort {
  std::string_view host;  // without brackets
  std::uint16_t port = 0;
  bool v6 = false;
};
/// "minio.storage:9000", "10.0.0.7:9000", "[fd00::7]:9000". The port is needed. The views point into `text`.
std::expected<HostPort, Problem> parse_host_port(std::string_view text);

struct TokenProblem {
  std::size_t offset = 0;  // of the entry in the list
  std::size_t length = 0;
  Problem problem;
};
/// A no_proxy list: entries between commas, spaces around them and empty ones are passed over. An entry is `*`, a
/// domain name with or without a leading dot and [:port], IPv4[:port], IPv6, [IPv6][:port], or a CIDR of either family.
/// At most 20 problems are given.
std::vector<TokenProblem> check_no_proxy(std::string_view list);

}  // namespace stackgate::validate::grammar
