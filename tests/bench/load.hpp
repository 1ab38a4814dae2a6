// The one client for every server: TLS over blocking sockets, many connections kept busy by one thread.
#pragma once
#include <memory>
#include <stdexcept>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <arpa/inet.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <openssl/ssl.h>
#include <sys/epoll.h>
#include <sys/socket.h>
#include <unistd.h>

namespace stackgate::bench {

class Connection {
 public:
  Connection(SSL_CTX* context, std::uint16_t port) {
    fd_ = ::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
    sockaddr_in address{};
    address.sin_family = AF_INET;
    address.sin_port = htons(port);
    address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    const int one = 1;
    ::setsockopt(fd_, IPPROTO_TCP, TCP_NODELAY, &one, sizeof one);
    tls_ = SSL_new(context);
    SSL_set_fd(tls_, fd_);
    good_ = ::connect(fd_, reinterpret_cast<sockaddr*>(&address), sizeof address) == 0 && SSL_connect(tls_) == 1;
  }
  ~Connection() {
    SSL_free(tls_);
    ::close(fd_);
  }
  Connection(const Connection&) = delete;
  Connection& operator=(const Connection&) = delete;

  bool good() const { return good_; }
  int fd() const { return fd_; }
  void send(std::string_view request) {
    while (!request.empty()) {
      const int n = SSL_write(tls_, request.data(), static_cast<int>(request.size()));
      if (n <= 0) throw std::runtime_error("the server closed a connection while it was sent a request");
      request.remove_prefix(static_cast<std::size_t>(n));
    }
  }
  /// Blocks; one whole response.
  std::string receive() {
    std::string text;
    for (;;) {
      if (const auto end = text.find("\r\n\r\n"); end != std::string::npos) {
        const auto at = text.find("Content-Length: ");
        if (at > end) throw std::runtime_error("a response without Content-Length");
        if (text.size() >= end + 4 + std::stoul(text.substr(at + 16, 20))) return text;
      }
      char part[16 * 1024];
      const int n = SSL_read(tls_, part, sizeof part);
      if (n <= 0) throw std::runtime_error("the server closed a connection instead of answering");
      text.append(part, static_cast<std::size_t>(n));
    }
  }

 private:
  int fd_ = -1;
  SSL* tls_ = nullptr;
  bool good_ = false;
};

using ClientContext = std::unique_ptr<SSL_CTX, decltype(&SSL_CTX_free)>;
inline ClientContext client_context() {
  ClientContext context(SSL_CTX_new(TLS_client_method()), &SSL_CTX_free);
  SSL_CTX_set_session_cache_mode(context.get(), SSL_SESS_CACHE_OFF);  // as the API server's client: no resumption
  return context;
}

/// `total` requests over `connections` kept alive, each busy at all times. Every answer must contain `expected`.
inline void keep_busy(SSL_CTX* context, std::uint16_t port, int connections, long total, std::string_view request,
                      std::string_view expected) {
  std::vector<std::unique_ptr<Connection>> all;
  const int ready = ::epoll_create1(EPOLL_CLOEXEC);
  for (int i = 0; i < connections; ++i) {
    all.push_back(std::make_unique<Connection>(context, port));
    if (!all.back()->good()) throw std::runtime_error("cannot connect to port " + std::to_string(port));
    epoll_event event{};
    event.events = EPOLLIN;
    event.data.ptr = all.back().get();
    ::epoll_ctl(ready, EPOLL_CTL_ADD, all.back()->fd(), &event);
  }
  long sent = 0, received = 0;
  for (const auto& connection : all) {
    connection->send(request);
    ++sent;
  }
  epoll_event events[64];
  while (received < total) {
    const int count = ::epoll_wait(ready, events, 64, -1);
    for (int i = 0; i < count; ++i) {
      auto& connection = *static_cast<Connection*>(events[i].data.ptr);
      const std::string answer = connection.receive();
      if (answer.find(expected) == std::string::npos)
        throw std::runtime_error("an unexpected answer: " + answer.substr(0, 1000));
      ++received;
      if (sent < total) {
        connection.send(request);
        ++sent;
      }
    }
  }
  ::close(ready);
}

/// `total` connections one after the other, one request on each.
inline void connect_anew(SSL_CTX* context, std::uint16_t port, long total, std::string_view request,
                         std::string_view expected) {
  for (long i = 0; i < total; ++i) {
    Connection connection(context, port);
    if (!connection.good()) throw std::runtime_error("cannot connect to port " + std::to_string(port));
    connection.send(request);
    if (connection.receive().find(expected) == std::string::npos) throw std::runtime_error("an unexpected answer");
  }
}

}  // namespace stackgate::bench
