#include "services/kit/http/listen.hpp"

#include <cerrno>
#include <charconv>
#include <cstring>
#include <memory>

#include <arpa/inet.h>
#include <fmt/format.h>
#include <netdb.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <sys/socket.h>
#include <unistd.h>

namespace stackgate::http {
namespace listen_detail {

struct Endpoint {
  sockaddr_storage address{};
  socklen_t size = 0;
};

void set_port(Endpoint& endpoint, std::uint16_t port) {
  if (endpoint.address.ss_family == AF_INET6) {
    reinterpret_cast<sockaddr_in6&>(endpoint.address).sin6_port = htons(port);
  } else {
    reinterpret_cast<sockaddr_in&>(endpoint.address).sin_port = htons(port);
  }
}

std::uint16_t port_of(const sockaddr_storage& address) {
  return ntohs(address.ss_family == AF_INET6 ? reinterpret_cast<const sockaddr_in6&>(address).sin6_port
                                             : reinterpret_cast<const sockaddr_in&>(address).sin_port);
}

std::expected<Endpoint, Error> resolve(const ListenAddress& listen) {
  addrinfo hints{};
  hints.ai_socktype = SOCK_STREAM;
  hints.ai_flags = AI_PASSIVE | AI_NUMERICSERV;
  // All addresses: one IPv6 socket takes IPv4 too, where the machine has IPv6 at all.
  const int probe = listen.host.empty() ? ::socket(AF_INET6, SOCK_STREAM | SOCK_CLOEXEC, 0) : -1;
  if (listen.host.empty()) hints.ai_family = probe >= 0 ? AF_INET6 : AF_INET;
  if (probe >= 0) ::close(probe);
  addrinfo* found = nullptr;
  const int code =
      ::getaddrinfo(listen.host.empty() ? nullptr : listen.host.c_str(), listen.port.c_str(), &hints, &found);
  if (code != 0)
    return std::unexpected(Error{fmt::format("cannot find the address {}: {}", listen.host, ::gai_strerror(code))});
  const std::unique_ptr<addrinfo, decltype(&::freeaddrinfo)> owner(found, &::freeaddrinfo);
  Endpoint endpoint;
  std::memcpy(&endpoint.address, found->ai_addr, found->ai_addrlen);
  endpoint.size = found->ai_addrlen;
  return endpoint;
}

// A bound socket, or -1 with errno.
int bind_one(const Endpoint& endpoint, bool share_port) {
  const int fd = ::socket(endpoint.address.ss_family, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0);
  if (fd < 0) return -1;
  const auto set = [fd](int level, int option, int value) { ::setsockopt(fd, level, option, &value, sizeof value); };
  set(SOL_SOCKET, SO_REUSEADDR, 1);
  if (share_port) set(SOL_SOCKET, SO_REUSEPORT, 1);
  if (endpoint.address.ss_family == AF_INET6) set(IPPROTO_IPV6, IPV6_V6ONLY, 0);
  // Accepted sockets inherit these. A peer that vanished is noticed after 60 + 3 * 15 seconds.
  set(IPPROTO_TCP, TCP_NODELAY, 1);
  set(SOL_SOCKET, SO_KEEPALIVE, 1);
  set(IPPROTO_TCP, TCP_KEEPIDLE, 60);
  set(IPPROTO_TCP, TCP_KEEPINTVL, 15);
  set(IPPROTO_TCP, TCP_KEEPCNT, 3);
  if (::bind(fd, reinterpret_cast<const sockaddr*>(&endpoint.address), endpoint.size) == 0) return fd;
  const int error = errno;
  ::close(fd);
  errno = error;
  return -1;
}

Error explain(std::string_view text, int error) {
  const char* cure = error == EADDRINUSE      ? "; another process uses that port: stop it or listen elsewhere"
                     : error == EACCES        ? "; ports below 1024 need a privilege: use a higher one"
                     : error == EADDRNOTAVAIL ? "; no interface of this machine has that address"
                                              : "";
  return Error{fmt::format("cannot listen on {}: {}{}", text, std::strerror(error), cure)};
}

}  // namespace listen_detail

std::expected<ListenAddress, Error> parse_listen(std::string_view text) {
  const auto wrong = [text](std::string_view what) {
    return std::unexpected(Error{fmt::format(
        "\"{}\" is no listen address: {}; write host:port, [IPv6]:port, or :port for all addresses", text, what)});
  };
  const std::size_t colon = text.rfind(':');
  if (colon == std::string_view::npos) return wrong("it has no port");
  std::string_view host = text.substr(0, colon);
  const std::string_view port = text.substr(colon + 1);
  std::uint16_t number = 0;
  const auto [end, error] = std::from_chars(port.data(), port.data() + port.size(), number);
  if (error != std::errc() || end != port.data() + port.size())
    return wrong("the port is not a number from 0 to 65535");
  if (host.starts_with('[') != host.ends_with(']') || host == "[]") return wrong("the brackets do not hold an address");
  if (host.starts_with('[')) {
    host = host.substr(1, host.size() - 2);
    in6_addr ignored{};
    if (::inet_pton(AF_INET6, std::string(host).c_str(), &ignored) != 1)
      return wrong("the brackets do not hold an IPv6 address");
  } else if (host.find(':') != std::string_view::npos) {
    return wrong("an IPv6 address needs brackets");
  }
  return ListenAddress{std::string(host), std::string(port)};
}

std::expected<Listening, Error> listen_on(std::string_view text, unsigned count) {
  using namespace listen_detail;
  const auto parsed = parse_listen(text);
  if (!parsed) return std::unexpected(parsed.error());
  auto endpoint = resolve(*parsed);
  if (!endpoint) return std::unexpected(endpoint.error());

  // SO_REUSEPORT would let two processes share the port unnoticed, so it is tried without first.
  const int first = bind_one(*endpoint, false);
  if (first < 0) return std::unexpected(explain(text, errno));
  sockaddr_storage bound{};
  socklen_t size = sizeof bound;
  ::getsockname(first, reinterpret_cast<sockaddr*>(&bound), &size);
  Listening listening{{}, port_of(bound)};
  set_port(*endpoint, listening.port);
  if (count == 1) {
    listening.sockets.push_back(first);
  } else {
    ::close(first);
  }
  int error = 0;
  while (error == 0 && listening.sockets.size() < count) {
    const int fd = bind_one(*endpoint, true);
    fd < 0 ? void(error = errno) : listening.sockets.push_back(fd);
  }
  for (const int fd : listening.sockets) {
    if (error == 0 && ::listen(fd, 4096) != 0) error = errno;
  }
  if (error == 0) return listening;
  for (const int fd : listening.sockets) ::close(fd);
  return std::unexpected(explain(text, error));
}

std::string format_address(const sockaddr& address) {
  char text[INET6_ADDRSTRLEN] = "?";
  if (address.sa_family == AF_INET) {
    const auto& v4 = reinterpret_cast<const sockaddr_in&>(address);
    ::inet_ntop(AF_INET, &v4.sin_addr, text, sizeof text);
    return fmt::format("{}:{}", text, ntohs(v4.sin_port));
  }
  if (address.sa_family != AF_INET6) return text;
  const auto& v6 = reinterpret_cast<const sockaddr_in6&>(address);
  if (IN6_IS_ADDR_V4MAPPED(&v6.sin6_addr)) {
    ::inet_ntop(AF_INET, v6.sin6_addr.s6_addr + 12, text, sizeof text);
    return fmt::format("{}:{}", text, ntohs(v6.sin6_port));
  }
  ::inet_ntop(AF_INET6, &v6.sin6_addr, text, sizeof text);
  return fmt::format("[{}]:{}", text, ntohs(v6.sin6_port));
}

}  // namespace stackgate::http
