// Bodies that pass through instead of being held: a handler's thread borrows the connection from its I/O thread and
// reads and writes it itself. Back-pressure is TCP's own: nothing is read from a peer while the handler is behind, and
// a handler waits while the peer is.
//
// BodyReader and BodyWriter block; call them from pool threads, never from an I/O thread. One thread at a time per
// object; a request's reader and the writer of its answer may be used by two threads at once. AsyncBodyWriter holds no
// thread: for answers that come over minutes.
#pragma once
#include <cstdint>
#include <expected>
#include <memory>
#include <optional>
#include <span>
#include <string_view>

#include "services/kit/base/error.hpp"

namespace stackgate::http {

class Connection;
class Outbox;

/// Why a body ended early. `status` is what the client deserves, if it can still get one (408, 413, 400, and 503 when
/// the server itself ends); 0 when the client is gone.
struct BodyError {
  int status = 0;
  Error error;
};

/// The body of a request whose BodyPlan said `stream`.
class BodyReader {
 public:
  virtual ~BodyReader() = default;
  /// Fills a part of `space` (16 KiB and more serve best) and returns how much; 0 is the end. The peer gets its
  /// "100 Continue" at the first call. After the answer was given: an error, also for a thread that is waiting here.
  virtual std::expected<std::size_t, BodyError> read(std::span<char> space) = 0;
  /// Content-Length; nothing when the body is chunked.
  virtual std::optional<std::uint64_t> length() const = 0;
};

/// The body of an answer begun with Responder::start. Destroying it before finish() cuts the connection, so that a
/// client can tell a part from the whole.
class BodyWriter {
 public:
  virtual ~BodyWriter() = default;
  /// Returns when the kernel has taken all of it; waits while the peer takes nothing, up to Limits::write. An error: it
  /// is gone, or too slow, or there are more bytes than announced. Each call is a packet or more: gather small parts.
  virtual std::expected<void, Error> write(std::string_view bytes) = 0;
  /// `length` bytes of `fd` from `offset`, with sendfile(2) where the connection is plain. `fd` stays the caller's and
  /// must stay open until this returns, which is when the last byte has been handed to the kernel.
  virtual std::expected<void, Error> send_file(int fd, std::uint64_t offset, std::uint64_t length) = 0;
  /// The body is whole. Without it, it is not.
  virtual std::expected<void, Error> finish() = 0;
  /// The peer has closed its side or the connection broke: what is written is not read. For long polls and SSE.
  virtual bool gone() const = 0;
  /// The server drains: an answer without an end (SSE, long poll) should come to one.
  virtual bool draining() const = 0;
};

/// The body of an answer begun with Responder::stream. From any thread; no call blocks. Destroying it before finish()
/// cuts the connection (before its first write(): 500).
class AsyncBodyWriter {
 public:
  /// Made by Responder::stream().
  AsyncBodyWriter(std::shared_ptr<Connection> connection, std::shared_ptr<Outbox> outbox)
      : connection_(std::move(connection)), outbox_(std::move(outbox)) {}
  ~AsyncBodyWriter();
  AsyncBodyWriter(const AsyncBodyWriter&) = delete;
  AsyncBodyWriter& operator=(const AsyncBodyWriter&) = delete;
  /// Keeps the bytes until the peer takes them; each call is a packet or more. False: more than 64 KiB are kept, so
  /// write on after AnswerWatcher::writable(); or the answer has ended. More bytes than announced end it.
  bool write(std::string_view bytes);
  /// The body is whole. The bytes that are kept still go out, then comes AnswerWatcher::ended(true).
  void finish();
  /// As BodyWriter::draining().
  bool draining() const;

 private:
  const std::shared_ptr<Connection> connection_;
  const std::shared_ptr<Outbox> outbox_;
};

/// Follows an answer that no thread waits for. Called on the connection's I/O thread: it must not block.
class AnswerWatcher {
 public:
  virtual ~AnswerWatcher() = default;
  /// Once after each write() that returned false, unless the answer has ended.
  virtual void writable() = 0;
  /// Once, as the last call. `whole`: the kernel has taken all of the answer. Otherwise it is lost: the client
  /// has closed its side (at once, also while nothing is written), took nothing for Limits::write, or the server ends.
  /// The request's views hold until this returns.
  virtual void ended(bool whole) = 0;
};

}  // namespace stackgate::http
