// A client that says exactly what a test tells it to, byte for byte; plain or TLS. Fails softly: what did not come is
// "".
#pragma once
#include <chrono>
#include <string>
#include <string_view>
#include <utility>

#include <arpa/inet.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <openssl/ssl.h>
#include <poll.h>
#include <signal.h>
#include <sys/socket.h>
#include <unistd.h>

namespace stackgate::http::test {

class Client {
 public:
  explicit Client(std::uint16_t port, bool v6 = false) {
    fd_ = ::socket(v6 ? AF_INET6 : AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
    sockaddr_in6 six{};
    six.sin6_family = AF_INET6;
    six.sin6_port = htons(port);
    six.sin6_addr = in6addr_loopback;
    sockaddr_in four{};
    four.sin_family = AF_INET;
    four.sin_port = htons(port);
    four.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    const int failed = v6 ? ::connect(fd_, reinterpret_cast<sockaddr*>(&six), sizeof six)
                          : ::connect(fd_, reinterpret_cast<sockaddr*>(&four), sizeof four);
    const int one = 1;
    ::setsockopt(fd_, IPPROTO_TCP, TCP_NODELAY, &one, sizeof one);
    if (failed != 0) close();
  }
  ~Client() { close(); }
  Client(const Client&) = delete;
  Client& operator=(const Client&) = delete;

  /// TLS; `alpn` in wire form ("\x02h2"). False when the handshake fails.
  bool secure(int max_version = 0, std::string_view alpn = {}) {
    ::signal(SIGPIPE, SIG_IGN);  // OpenSSL writes without MSG_NOSIGNAL
    context_ = SSL_CTX_new(TLS_client_method());
    if (max_version != 0) SSL_CTX_set_max_proto_version(context_, max_version);
    SSL_CTX_set_security_level(context_, 0);
    tls_ = SSL_new(context_);
    SSL_set_fd(tls_, fd_);
    if (!alpn.empty())
      SSL_set_alpn_protos(tls_, reinterpret_cast<const unsigned char*>(alpn.data()),
                          static_cast<unsigned>(alpn.size()));
    return SSL_connect(tls_) == 1;
  }
  std::string protocol() const {
    const unsigned char* text = nullptr;
    unsigned size = 0;
    SSL_get0_alpn_selected(tls_, &text, &size);
    return {reinterpret_cast<const char*>(text), size};
  }
  std::string peer_serial() const {
    X509* certificate = SSL_get1_peer_certificate(tls_);
    if (certificate == nullptr) return {};
    BIGNUM* number = ASN1_INTEGER_to_BN(X509_get_serialNumber(certificate), nullptr);
    char* hex = BN_bn2hex(number);
    std::string text = hex;
    OPENSSL_free(hex);
    BN_free(number);
    X509_free(certificate);
    return text;
  }

  bool is_open() const { return fd_ >= 0; }
  int fd() const { return fd_; }
  void send(std::string_view bytes) {
    while (!bytes.empty()) {
      const auto n = tls_ != nullptr ? SSL_write(tls_, bytes.data(), static_cast<int>(bytes.size()))
                                     : ::send(fd_, bytes.data(), bytes.size(), MSG_NOSIGNAL);
      if (n <= 0) return;
      bytes.remove_prefix(static_cast<std::size_t>(n));
    }
  }
  void finish_sending() { ::shutdown(fd_, SHUT_WR); }

  /// One response with its body (by Content-Length); "" when the connection ends or nothing comes in time.
  std::string response(bool head_only = false, std::chrono::milliseconds limit = std::chrono::seconds(5)) {
    const auto until = std::chrono::steady_clock::now() + limit;
    for (;;) {
      if (const auto end = received_.find("\r\n\r\n"); end != std::string::npos) {
        const auto at = received_.find("Content-Length: ");
        const bool has_length = at < end && !head_only;
        const std::size_t size = end + 4 + (has_length ? std::stoul(received_.substr(at + 16, 20)) : 0);
        if (received_.size() >= size) {
          std::string whole = received_.substr(0, size);
          received_.erase(0, size);
          return whole;
        }
      }
      if (!receive(until)) return {};
    }
  }
  /// Everything until the peer closes; `closed` says whether it did so in time.
  std::string rest(std::chrono::milliseconds limit = std::chrono::seconds(5)) {
    const auto until = std::chrono::steady_clock::now() + limit;
    while (receive(until)) {
    }
    return std::exchange(received_, {});
  }
  /// What has come, at least a byte; "" at the end or when nothing comes in time. Holds nothing back.
  std::string some(std::chrono::milliseconds limit = std::chrono::seconds(5)) {
    if (received_.empty()) receive(std::chrono::steady_clock::now() + limit);
    return std::exchange(received_, {});
  }
  /// At most so many of the bytes that have come, without waiting.
  std::string take(std::size_t most) {
    std::string part(most, '\0');
    const auto n = tls_ != nullptr ? SSL_read(tls_, part.data(), static_cast<int>(most))
                                   : ::recv(fd_, part.data(), most, MSG_DONTWAIT);
    part.resize(n > 0 ? static_cast<std::size_t>(n) : 0);
    return part;
  }
  bool closed() const { return closed_; }

  void close() {
    if (tls_ != nullptr) SSL_free(tls_);
    if (context_ != nullptr) SSL_CTX_free(context_);
    tls_ = nullptr;
    context_ = nullptr;
    if (fd_ >= 0) ::close(fd_);
    fd_ = -1;
  }
  /// Closes with a reset instead of a goodbye.
  void reset() {
    const linger now{1, 0};
    ::setsockopt(fd_, SOL_SOCKET, SO_LINGER, &now, sizeof now);
    close();
  }

 private:
  bool receive(std::chrono::steady_clock::time_point until) {
    char part[64 * 1024];
    if (tls_ == nullptr || SSL_pending(tls_) == 0) {
      const auto left = std::chrono::ceil<std::chrono::milliseconds>(until - std::chrono::steady_clock::now()).count();
      pollfd wait{fd_, POLLIN, 0};
      if (left <= 0 || ::poll(&wait, 1, static_cast<int>(left)) <= 0) return false;
    }
    const auto n = tls_ != nullptr ? SSL_read(tls_, part, sizeof part) : ::recv(fd_, part, sizeof part, 0);
    if (n <= 0) {
      closed_ = true;
      return false;
    }
    received_.append(part, static_cast<std::size_t>(n));
    return true;
  }

  int fd_ = -1;
  SSL_CTX* context_ = nullptr;
  SSL* tls_ = nullptr;
  bool closed_ = false;
  std::string received_;
};

}  // namespace stackgate::http::test
