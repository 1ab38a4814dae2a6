#include "services/kit/http/listen.hpp"

#include <cerrno>
#include <cstring>

#include <boost/asio/io_context.hpp>
#include <boost/asio/ip/tcp.hpp>
#include <fmt/format.h>
#include <netinet/tcp.h>
#include <sys/socket.h>
#include <unistd.h>

#include "services/kit/base/number.hpp"
#include "services/kit/base/try.hpp"

namespace stackgate::http {
namespace listen_detail {

using boost::asio::ip::tcp;
using boost::system::error_code;

std::expected<tcp::endpoint, Error> resolve(const ListenAddress& listen) {
  const auto port = static_cast<std::uint16_t>(std::stoul(listen.port));
  if (listen.host.empty()) {  // one IPv6 socket takes IPv4 too, where the machine has IPv6 at all
    const int probe = ::socket(AF_INET6, SOCK_STREAM | SOCK_CLOEXEC, 0);
    if (probe < 0) return tcp::endpoint(tcp::v4(), port);
    ::close(probe);
    return tcp::endpoint(tcp::v6(), port);
  }
  boost::asio::io_context context;
  tcp::resolver resolver(context);
  error_code failed;
  const auto found =
      resolver.resolve(listen.host, listen.port, tcp::resolver::passive | tcp::resolver::numeric_service, failed);
  if (failed)
    return std::unexpected(Error{fmt::format("cannot find the address {}: {}", listen.host, failed.message())});
  return found.begin()->endpoint();
}

// A bound socket, or -1 with errno. Asio's would be inherited by child processes.
int bind_one(const tcp::endpoint& endpoint, bool share_port) {
  const int fd = ::socket(endpoint.protocol().family(), SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0);
  if (fd < 0) return -1;
  const auto set = [fd](int level, int option, int value) { ::setsockopt(fd, level, option, &value, sizeof value); };
  set(SOL_SOCKET, SO_REUSEADDR, 1);
  if (share_port) set(SOL_SOCKET, SO_REUSEPORT, 1);
  if (endpoint.protocol() == tcp::v6()) set(IPPROTO_IPV6, IPV6_V6ONLY, 0);
  // Accepted sockets inherit these. A peer that vanished is noticed after 60 + 3 * 15 seconds.
  set(IPPROTO_TCP, TCP_NODELAY, 1);
  set(SOL_SOCKET, SO_KEEPALIVE, 1);
  set(IPPROTO_TCP, TCP_KEEPIDLE, 60);
  set(IPPROTO_TCP, TCP_KEEPINTVL, 15);
  set(IPPROTO_TCP, TCP_KEEPCNT, 3);
  if (::bind(fd, endpoint.data(), static_cast<socklen_t>(endpoint.size())) == 0) return fd;
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
  using listen_detail::error_code;
  const auto wrong = [text](std::string_view what) {
    return std::unexpected(Error{fmt::format(
        "\"{}\" is no listen address: {}; write host:port, [IPv6]:port, or :port for all addresses", text, what)});
  };
  const std::size_t colon = text.rfind(':');
  if (colon == std::string_view::npos) return wrong("it has no port");
  std::string_view host = text.substr(0, colon);
  const std::string_view port = text.substr(colon + 1);
  if (!to_number<std::uint16_t>(port)) return wrong("the port is not a number from 0 to 65535");
  if (host.starts_with('[') != host.ends_with(']') || host == "[]") return wrong("the brackets do not hold an address");
  if (host.starts_with('[')) {
    host = host.substr(1, host.size() - 2);
    error_code failed;
    boost::asio::ip::make_address_v6(host, failed);
    if (failed) return wrong("the brackets do not hold an IPv6 address");
  } else if (host.find(':') != std::string_view::npos) {
    return wrong("an IPv6 address needs brackets");
  }
  return ListenAddress{std::string(host), std::string(port)};
}

std::expected<Listening, Error> listen_on(std::string_view text, unsigned count) {
  using namespace listen_detail;
  const auto parsed = TRY(parse_listen(text));
  auto endpoint = TRY(resolve(parsed));

  // SO_REUSEPORT would let two processes share the port unnoticed, so it is tried without first.
  const int first = bind_one(endpoint, false);
  if (first < 0) return std::unexpected(explain(text, errno));
  tcp::endpoint bound;
  auto size = static_cast<socklen_t>(bound.capacity());
  ::getsockname(first, bound.data(), &size);
  endpoint.port(bound.port());
  Listening listening{{}, bound.port()};
  if (count == 1) {
    listening.sockets.push_back(first);
  } else {
    ::close(first);
  }
  int error = 0;
  while (error == 0 && listening.sockets.size() < count) {
    const int fd = bind_one(endpoint, true);
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
  using namespace boost::asio::ip;
  if (address.sa_family != AF_INET && address.sa_family != AF_INET6) return "?";
  tcp::endpoint endpoint;
  std::memcpy(endpoint.data(), &address, address.sa_family == AF_INET ? sizeof(sockaddr_in) : sizeof(sockaddr_in6));
  const auto host = endpoint.address();
  if (host.is_v4()) return fmt::format("{}:{}", host.to_string(), endpoint.port());
  if (host.to_v6().is_v4_mapped())
    return fmt::format("{}:{}", make_address_v4(v4_mapped, host.to_v6()).to_string(), endpoint.port());
  return fmt::format("[{}]:{}", host.to_string(), endpoint.port());
}

}  // namespace stackgate::http
