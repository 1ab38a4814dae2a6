#include "tests/chaos/wire.hpp"

#include <array>
#include <cerrno>
#include <cstdlib>
#include <cstring>
#include <fstream>
#include <iterator>
#include <stdexcept>

#include <arpa/inet.h>
#include <netdb.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <openssl/pem.h>
#include <openssl/ssl.h>
#include <poll.h>
#include <strings.h>
#include <sys/socket.h>
#include <unistd.h>

namespace stackgate::chaos {
namespace {

std::string text_of(const kube::Pem& pem) {
  if (!pem.text.empty()) return pem.text;
  std::ifstream in(pem.file);
  return {std::istreambuf_iterator<char>(in), {}};
}

void no_delay(int fd) {
  const int on = 1;
  ::setsockopt(fd, IPPROTO_TCP, TCP_NODELAY, &on, sizeof on);
}

/// `use` for each certificate of a PEM text.
template <class Use>
void each_certificate(const std::string& pem, Use&& use) {
  const std::unique_ptr<BIO, decltype(&BIO_free)> in(BIO_new_mem_buf(pem.data(), static_cast<int>(pem.size())),
                                                     &BIO_free);
  while (X509* certificate = PEM_read_bio_X509(in.get(), nullptr, nullptr, nullptr)) {
    use(certificate);
    X509_free(certificate);
  }
}

}  // namespace

Socket::~Socket() {
  if (tls_ != nullptr) SSL_free(tls_);
  if (fd_ >= 0) ::close(fd_);
}

bool Socket::read(std::string& into) {
  std::array<char, 16384> bytes;
  while (true) {
    const auto n = tls_ == nullptr ? ::recv(fd_, bytes.data(), bytes.size(), 0)
                                   : SSL_read(tls_, bytes.data(), static_cast<int>(bytes.size()));
    if (n < 0 && tls_ == nullptr && errno == EINTR) continue;
    if (n <= 0) return false;
    into.append(bytes.data(), static_cast<std::size_t>(n));
    return true;
  }
}

bool Socket::write(std::string_view bytes) {
  while (!bytes.empty()) {
    const auto n = tls_ == nullptr ? ::send(fd_, bytes.data(), bytes.size(), MSG_NOSIGNAL)
                                   : SSL_write(tls_, bytes.data(), static_cast<int>(bytes.size()));
    if (n < 0 && tls_ == nullptr && errno == EINTR) continue;
    if (n <= 0) return false;
    bytes.remove_prefix(static_cast<std::size_t>(n));
  }
  return true;
}

bool Socket::has_decrypted() const { return tls_ != nullptr && SSL_pending(tls_) > 0; }

Ready wait_for_either(const Socket& client, const Socket& server, std::chrono::milliseconds limit) {
  if (server.has_decrypted()) return Ready::server;
  std::array<pollfd, 2> wait{pollfd{.fd = client.fd(), .events = POLLIN, .revents = 0},
                             pollfd{.fd = server.fd(), .events = POLLIN, .revents = 0}};
  if (::poll(wait.data(), wait.size(), static_cast<int>(limit.count())) <= 0) return Ready::none;
  return wait[0].revents != 0 ? Ready::client : Ready::server;
}

void Socket::reset() {
  const linger now{.l_onoff = 1, .l_linger = 0};
  ::setsockopt(fd_, SOL_SOCKET, SO_LINGER, &now, sizeof now);
  ::close(std::exchange(fd_, -1));
}

void Socket::abort() const { ::shutdown(fd_, SHUT_RDWR); }

void Socket::start_tls(ssl_ctx_st* context, const std::string& host) {
  tls_ = SSL_new(context);
  SSL_set_fd(tls_, fd_);
  SSL_set_tlsext_host_name(tls_, host.c_str());
  if (SSL_connect(tls_) != 1) throw std::runtime_error("the API server refuses the proxy's TLS handshake");
}

Upstream::Upstream(const kube::Config& config) {
  const std::string_view server = config.server;
  const std::size_t begin = server.find("://") + 3, colon = server.rfind(':');
  if (!server.starts_with("https://") || colon < begin)
    throw std::runtime_error("no https://host:port: " + config.server);
  host_ = server.substr(begin, colon - begin);
  port_ = server.substr(colon + 1);
  context_ = {SSL_CTX_new(TLS_client_method()), &SSL_CTX_free};
  SSL_CTX_set_verify(context_.get(), SSL_VERIFY_PEER, nullptr);
  each_certificate(text_of(config.ca),
                   [&](X509* one) { X509_STORE_add_cert(SSL_CTX_get_cert_store(context_.get()), one); });
  each_certificate(text_of(config.client_certificate),
                   [&](X509* one) { SSL_CTX_use_certificate(context_.get(), one); });
  const std::string key = text_of(config.client_key);
  const std::unique_ptr<BIO, decltype(&BIO_free)> in(BIO_new_mem_buf(key.data(), static_cast<int>(key.size())),
                                                     &BIO_free);
  EVP_PKEY* private_key = PEM_read_bio_PrivateKey(in.get(), nullptr, nullptr, nullptr);
  const bool usable = private_key != nullptr && SSL_CTX_use_PrivateKey(context_.get(), private_key) == 1;
  EVP_PKEY_free(private_key);
  if (!usable) throw std::runtime_error("the kubeconfig has no usable client certificate");
}

std::unique_ptr<Socket> Upstream::connect() const {
  const addrinfo hints{.ai_family = AF_UNSPEC, .ai_socktype = SOCK_STREAM};
  addrinfo* found = nullptr;
  if (::getaddrinfo(host_.c_str(), port_.c_str(), &hints, &found) != 0)
    throw std::runtime_error("no such host: " + host_);
  const std::unique_ptr<addrinfo, decltype(&freeaddrinfo)> addresses(found, &freeaddrinfo);
  auto socket = std::make_unique<Socket>(::socket(found->ai_family, SOCK_STREAM | SOCK_CLOEXEC, 0));
  if (::connect(socket->fd(), found->ai_addr, found->ai_addrlen) != 0)
    throw std::runtime_error("the API server cannot be reached");
  no_delay(socket->fd());
  socket->start_tls(context_.get(), host_);
  return socket;
}

int listen_on_loopback(std::uint16_t& port) {
  const int fd = ::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
  sockaddr_in address{};
  address.sin_family = AF_INET;
  address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
  socklen_t size = sizeof address;
  if (::bind(fd, reinterpret_cast<sockaddr*>(&address), size) != 0 || ::listen(fd, 256) != 0 ||
      ::getsockname(fd, reinterpret_cast<sockaddr*>(&address), &size) != 0)
    throw std::runtime_error("cannot listen on 127.0.0.1");
  port = ntohs(address.sin_port);
  return fd;
}

std::string Head::header(std::string_view name) const {
  for (std::size_t at = text.find("\r\n"); at != std::string::npos; at = text.find("\r\n", at)) {
    at += 2;
    if (text.size() - at <= name.size() || text[at + name.size()] != ':' ||
        ::strncasecmp(text.data() + at, name.data(), name.size()) != 0)
      continue;
    std::size_t begin = at + name.size() + 1;
    while (text[begin] == ' ') ++begin;
    return text.substr(begin, text.find("\r\n", begin) - begin);
  }
  return {};
}

bool read_head(Socket& from, std::string& buffer, Head& head) {
  constexpr std::string_view end = "\r\n\r\n";
  std::size_t found = 0;
  while ((found = buffer.find(end)) == std::string::npos)
    if (!from.read(buffer)) return false;
  head.text = buffer.substr(0, found + end.size());
  buffer.erase(0, found + end.size());
  return true;
}

BodyEnd::BodyEnd(const Head& head, bool is_answer) {
  chunked_ = head.header("Transfer-Encoding") == "chunked";
  const std::string length = head.header("Content-Length");
  left_ = length.empty() ? 0 : std::strtoull(length.c_str(), nullptr, 10);
  until_close_ = is_answer && !chunked_ && length.empty() && !head.first_line().contains(" 204 ");
  ended_ = !chunked_ && !until_close_ && left_ == 0;
}

std::size_t BodyEnd::take(std::string_view bytes) {
  if (until_close_) return bytes.size();
  std::size_t at = 0;
  while (!ended_ && at < bytes.size()) {
    if (!chunked_ || at_ == At::data) {
      const std::size_t part = std::min<std::uint64_t>(left_, bytes.size() - at);
      at += part;
      left_ -= part;
      if (left_ > 0) continue;
      if (chunked_)
        at_ = At::after_data;
      else
        ended_ = true;
      continue;
    }
    const char c = bytes[at++];
    if (c != '\n') {
      if (c != '\r') line_ += c;
      continue;
    }
    if (at_ == At::size) {
      left_ = std::strtoull(line_.c_str(), nullptr, 16);
      at_ = left_ == 0 ? At::trailer : At::data;
    } else if (at_ == At::after_data) {
      at_ = At::size;
    } else if (line_.empty()) {
      ended_ = true;
    }
    line_.clear();
  }
  return at;
}

}  // namespace stackgate::chaos
