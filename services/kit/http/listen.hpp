// Listening sockets from "host:port".
#pragma once
#include <cstdint>
#include <expected>
#include <string>
#include <string_view>
#include <vector>

#include "services/kit/base/error.hpp"

struct sockaddr;

namespace stackgate::http {

struct ListenAddress {
  std::string host;  // empty: all addresses, IPv6 and IPv4
  std::string port;
  bool operator==(const ListenAddress&) const = default;
};

/// "host:port", "1.2.3.4:port", "[v6]:port", ":port". The port is a number of 0 (any free one) to 65535.
std::expected<ListenAddress, Error> parse_listen(std::string_view text);

/// `count` sockets on one port (SO_REUSEPORT when several: the kernel spreads connections over them), non-blocking,
/// with TCP keep-alive set for what they accept. Refuses a port that is in use.
struct Listening {
  std::vector<int> sockets;  // the caller closes them
  std::uint16_t port = 0;
};
std::expected<Listening, Error> listen_on(std::string_view text, unsigned count);

/// "10.0.0.7:41234", "[::1]:41234"; IPv4 addresses inside IPv6 are written as IPv4.
std::string format_address(const sockaddr& address);

}  // namespace stackgate::http
