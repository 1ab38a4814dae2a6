// A connected, non-blocking socket, plain or under TLS. Owns the descriptor. Not thread-safe.
#pragma once
#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>

struct ssl_st;
struct ssl_ctx_st;

namespace stackgate::http {

class Stream {
 public:
  enum class State : std::uint8_t { done, want_read, want_write, closed, failed };
  struct Result {
    State state = State::done;
    std::size_t bytes = 0;
  };

  explicit Stream(int fd) : fd_(fd) {}
  ~Stream() { close(); }
  Stream(const Stream&) = delete;
  Stream& operator=(const Stream&) = delete;

  int fd() const { return fd_; }
  /// Makes it the server's side of a TLS connection; false when out of memory.
  bool secure(ssl_ctx_st* context);
  Result handshake();
  Result read(std::span<char> into);
  /// May write less than all. After want_write, the same bytes must be offered again.
  Result write(std::string_view bytes);
  // Plain connections only.
  /// Some of the pieces' bytes, gathered. `more`: further bytes follow at once, so a last short packet may wait.
  Result write_pieces(std::span<const std::string_view> pieces, bool more);
  /// Some of `bytes` of `file` from `offset`, by sendfile(2). done with 0 bytes: the file ends there.
  Result send_file(int file, std::uint64_t offset, std::size_t bytes);

  bool is_tls() const { return tls_ != nullptr; }
  /// Makes close() a reset, which no peer takes for the end of a body.
  void reset_on_close();
  /// Bytes of the peer are here that no descriptor event will announce.
  bool has_buffered() const;
  /// Bytes that were written and that the peer's kernel has not confirmed yet.
  std::uint64_t unconfirmed() const;
  /// Sends close_notify and FIN, and nothing more; close() follows.
  void shutdown();
  void close();
  /// Why the TLS handshake failed: "certificate verify failed", "the peer closed the connection", …
  const std::string& failure() const { return failure_; }

 private:
  Result tls_result(int returned);

  int fd_;
  ssl_st* tls_ = nullptr;
  bool broken_ = false;  // a fatal error: OpenSSL allows nothing but freeing
  std::string failure_;
};

/// What every TLS server context of ours has: TLS 1.2 or later, forward-secret AEAD suites, no renegotiation, no
/// compression, ALPN "http/1.1", and settings that keep idle connections small. No tickets and no session cache: the
/// API server's client never resumes, and nothing lives on that could decrypt later.
void configure_server_context(ssl_ctx_st* context);

}  // namespace stackgate::http
