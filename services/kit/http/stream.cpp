#include "services/kit/http/stream.hpp"

#include <algorithm>
#include <array>
#include <cerrno>
#include <climits>
#include <cstring>

#include <linux/sockios.h>
#include <openssl/err.h>
#include <openssl/ssl.h>
#include <sys/ioctl.h>
#include <sys/sendfile.h>
#include <sys/socket.h>
#include <sys/uio.h>
#include <unistd.h>

namespace stackgate::http {
namespace stream_detail {

Stream::Result from_errno(int error) {
  if (error == EAGAIN || error == EWOULDBLOCK || error == EINTR) return {Stream::State::want_read};
  if (error == ECONNRESET || error == EPIPE) return {Stream::State::closed};
  return {Stream::State::failed};
}

/// Of a call that sends: what it returned, with errno.
Stream::Result sent(ssize_t n) {
  if (n >= 0) return {Stream::State::done, static_cast<std::size_t>(n)};
  const Stream::Result result = from_errno(errno);
  return result.state == Stream::State::want_read ? Stream::Result{Stream::State::want_write} : result;
}

int clamp(std::size_t size) { return static_cast<int>(std::min<std::size_t>(size, INT_MAX)); }

// RFC 7301: one of ours, or the connection ends with no_application_protocol.
int choose_protocol(SSL*, const unsigned char** out, unsigned char* out_length, const unsigned char* in,
                    unsigned in_length, void*) {
  static constexpr unsigned char known[] = "\x08http/1.1\x08http/1.0";
  unsigned char* chosen = nullptr;
  if (SSL_select_next_proto(&chosen, out_length, known, sizeof known - 1, in, in_length) != OPENSSL_NPN_NEGOTIATED) {
    return SSL_TLSEXT_ERR_ALERT_FATAL;
  }
  *out = chosen;
  return SSL_TLSEXT_ERR_OK;
}

}  // namespace stream_detail

bool Stream::secure(ssl_ctx_st* context) {
  tls_ = SSL_new(context);
  if (tls_ == nullptr || SSL_set_fd(tls_, fd_) != 1) {
    ERR_clear_error();
    return false;
  }
  SSL_set_accept_state(tls_);
  return true;
}

Stream::Result Stream::tls_result(int returned) {
  const int error = errno;
  switch (SSL_get_error(tls_, returned)) {
    case SSL_ERROR_WANT_READ:
      return {State::want_read};
    case SSL_ERROR_WANT_WRITE:
      return {State::want_write};
    case SSL_ERROR_ZERO_RETURN:
      return {State::closed};
    case SSL_ERROR_SYSCALL:
      broken_ = true;
      failure_ = error == 0 ? "the peer closed the connection" : std::strerror(error);
      ERR_clear_error();
      return {State::closed};
    default: {
      broken_ = true;
      const unsigned long code = ERR_peek_error();
      const char* reason = ERR_reason_error_string(code);
      failure_ = reason != nullptr ? reason : "TLS error";
      ERR_clear_error();
      if (ERR_GET_REASON(code) == SSL_R_UNEXPECTED_EOF_WHILE_READING) {
        failure_ = "the peer closed the connection";
        return {State::closed};
      }
      if (ERR_GET_REASON(code) == SSL_R_HTTP_REQUEST) {
        static constexpr std::string_view answer =
            "HTTP/1.1 400 Bad Request\r\nContent-Type: text/plain; charset=utf-8\r\nContent-Length: 46\r\nConnection: "
            "close\r\n\r\n"
            "400 this port speaks TLS: write https:// here\n";
        (void)!::send(fd_, answer.data(), answer.size(), MSG_NOSIGNAL | MSG_DONTWAIT);
      }
      return {State::failed};
    }
  }
}

Stream::Result Stream::handshake() {
  ERR_clear_error();
  errno = 0;
  const int returned = SSL_do_handshake(tls_);
  return returned == 1 ? Result{} : tls_result(returned);
}

Stream::Result Stream::read(std::span<char> into) {
  if (tls_ == nullptr) {
    const ssize_t n = ::recv(fd_, into.data(), into.size(), 0);
    if (n > 0) return {State::done, static_cast<std::size_t>(n)};
    return n == 0 ? Result{State::closed} : stream_detail::from_errno(errno);
  }
  ERR_clear_error();
  errno = 0;
  const int n = SSL_read(tls_, into.data(), stream_detail::clamp(into.size()));
  return n > 0 ? Result{State::done, static_cast<std::size_t>(n)} : tls_result(n);
}

Stream::Result Stream::write(std::string_view bytes) {
  if (tls_ == nullptr) return stream_detail::sent(::send(fd_, bytes.data(), bytes.size(), MSG_NOSIGNAL));
  ERR_clear_error();
  errno = 0;
  const int n = SSL_write(tls_, bytes.data(), stream_detail::clamp(bytes.size()));
  return n > 0 ? Result{State::done, static_cast<std::size_t>(n)} : tls_result(n);
}

Stream::Result Stream::write_pieces(std::span<const std::string_view> pieces, bool more) {
  std::array<iovec, 8> parts{};
  msghdr message{};
  message.msg_iov = parts.data();
  for (const std::string_view piece : pieces) {
    if (message.msg_iovlen == parts.size()) break;
    if (!piece.empty()) parts[message.msg_iovlen++] = {const_cast<char*>(piece.data()), piece.size()};
  }
  return stream_detail::sent(::sendmsg(fd_, &message, MSG_NOSIGNAL | (more ? MSG_MORE : 0)));
}

Stream::Result Stream::send_file(int file, std::uint64_t offset, std::size_t bytes) {
  auto at = static_cast<off_t>(offset);
  return stream_detail::sent(::sendfile(fd_, file, &at, bytes));
}

void Stream::reset_on_close() {
  const linger now{1, 0};
  ::setsockopt(fd_, SOL_SOCKET, SO_LINGER, &now, sizeof now);
}

std::uint64_t Stream::unconfirmed() const {
  int bytes = 0;
  return ::ioctl(fd_, SIOCOUTQ, &bytes) == 0 && bytes > 0 ? static_cast<std::uint64_t>(bytes) : 0;
}

bool Stream::has_buffered() const { return tls_ != nullptr && SSL_has_pending(tls_) == 1; }

void Stream::shutdown() {
  if (fd_ < 0) return;
  if (tls_ != nullptr && !broken_ && SSL_is_init_finished(tls_) == 1) {
    ERR_clear_error();
    SSL_shutdown(tls_);
    ERR_clear_error();
  }
  ::shutdown(fd_, SHUT_WR);
}

void Stream::close() {
  if (tls_ != nullptr) SSL_free(tls_);
  tls_ = nullptr;
  if (fd_ >= 0) ::close(fd_);
  fd_ = -1;
}

void configure_server_context(ssl_ctx_st* context) {
  SSL_CTX_set_min_proto_version(context, TLS1_2_VERSION);
  SSL_CTX_set_options(context, SSL_OP_NO_RENEGOTIATION | SSL_OP_NO_COMPRESSION | SSL_OP_NO_TICKET |
                                   SSL_OP_CIPHER_SERVER_PREFERENCE | SSL_OP_IGNORE_UNEXPECTED_EOF);
  SSL_CTX_set_num_tickets(context, 0);
  SSL_CTX_set_session_cache_mode(context, SSL_SESS_CACHE_OFF);
  // NO_AUTO_CHAIN: the chain is what was loaded; OpenSSL would look for more in an empty store at each handshake.
  SSL_CTX_set_mode(context, SSL_MODE_RELEASE_BUFFERS | SSL_MODE_ENABLE_PARTIAL_WRITE |
                                SSL_MODE_ACCEPT_MOVING_WRITE_BUFFER | SSL_MODE_NO_AUTO_CHAIN);
  SSL_CTX_set_read_ahead(context, 1);  // one read(2) per record, not two
  SSL_CTX_set_cipher_list(context, "ECDHE+AESGCM:ECDHE+CHACHA20");
  SSL_CTX_set_alpn_select_cb(context, stream_detail::choose_protocol, nullptr);
}

}  // namespace stackgate::http
