// Blocking connections and HTTP/1.1 framing for the proxy: bytes are passed on as they are, this only finds their ends.
#pragma once
#include <chrono>
#include <cstdint>
#include <memory>
#include <string>
#include <string_view>

#include "services/kit/kube/config.hpp"

struct ssl_st;
struct ssl_ctx_st;

namespace stackgate::chaos {

/// One socket, with TLS or without. For one thread; abort() from any.
class Socket {
 public:
  explicit Socket(int fd) : fd_(fd) {}
  ~Socket();
  Socket(const Socket&) = delete;
  Socket& operator=(const Socket&) = delete;

  /// Appends what is there; blocks until there is something. False at the end of the stream and when it broke.
  bool read(std::string& into);
  bool write(std::string_view bytes);
  /// Closes with RST: the peer sees "connection reset".
  void reset();
  /// Wakes a thread that reads or writes; it then sees a broken stream.
  void abort() const;
  int fd() const { return fd_; }
  bool has_decrypted() const;

  void start_tls(ssl_ctx_st* context, const std::string& host);  // throws

 private:
  int fd_;
  ssl_st* tls_ = nullptr;
};

/// Waits until one of them can be read, the end of the stream included; a negative limit means for ever.
enum class Ready : std::uint8_t { none, client, server };
Ready wait_for_either(const Socket& client, const Socket& server, std::chrono::milliseconds limit);

/// An API server's address with what it takes to be let in.
class Upstream {
 public:
  explicit Upstream(const kube::Config& config);  // throws
  std::unique_ptr<Socket> connect() const;        // throws

 private:
  std::string host_, port_;
  std::shared_ptr<ssl_ctx_st> context_;
};

/// A listening socket on a free port of 127.0.0.1. Throws.
int listen_on_loopback(std::uint16_t& port);

struct Head {
  std::string text;  // with the empty line
  std::string first_line() const { return text.substr(0, text.find("\r\n")); }
  /// The header's value, or empty. Names are matched without case.
  std::string header(std::string_view name) const;
};

/// Reads up to the end of a head; what comes behind stays in `buffer`. False when the stream ends before.
bool read_head(Socket& from, std::string& buffer, Head& head);

/// Finds the end of a body: by its length, by its chunks, or by the end of the stream.
class BodyEnd {
 public:
  explicit BodyEnd(const Head& head, bool is_answer);
  /// How many of the bytes belong to the body.
  std::size_t take(std::string_view bytes);
  bool ended() const { return ended_; }
  bool chunked() const { return chunked_; }

 private:
  bool chunked_ = false, until_close_ = false, ended_ = false;
  std::uint64_t left_ = 0;
  enum class At : std::uint8_t { size, data, after_data, trailer } at_ = At::size;
  std::string line_;
};

}  // namespace stackgate::chaos
