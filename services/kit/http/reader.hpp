// The receiving half of an HTTP/1.1 connection without its socket: bytes go in, requests come out, one at a time and
// in order. What has been pipelined behind a request waits in the buffer until finish().
//
// A streamed body passes the buffer by: what came with the head is copied out of it, the rest is received where the
// handler wants it and only cut to size here (take_buffered, take). The head stays where it is, so its views hold.
#pragma once
#include <cstddef>
#include <cstdint>
#include <span>
#include <string>

#include "services/kit/http/buffer.hpp"
#include "services/kit/http/chunked.hpp"
#include "services/kit/http/head.hpp"
#include "services/kit/http/message.hpp"

namespace stackgate::http {

struct ReadLimits {
  std::size_t head_bytes = 64 * 1024;
  std::size_t body_bytes = 8 * 1024 * 1024;
};

class RequestReader {
 public:
  enum class Step : std::uint8_t {
    need_more,      // read into space(), then add()
    send_continue,  // the peer waits for "100 Continue"; call step() again
    plan,           // the head is here: call plan(), then step() again. Only when made with `asks`
    request,        // request() is whole, or its head is and the body streams; finish() when it has been answered
    reject,         // answer rejected() and close
  };
  enum class Phase : std::uint8_t { idle, head, planning, body, streaming, complete, rejected };
  /// A part of a streamed body: `body` bytes stand at the front of the space that was given.
  struct Part {
    ChunkedDecoder::State state = ChunkedDecoder::State::more;
    std::size_t body = 0;
  };

  /// The pool must outlive the reader.
  RequestReader(const ReadLimits& limits, BufferPool& pool, bool asks = false)
      : limits_(limits), pool_(pool), asks_(asks), body_limit_(limits.body_bytes) {}
  ~RequestReader() = default;  // on any thread: the buffer is freed, not given to the pool
  RequestReader(const RequestReader&) = delete;
  RequestReader& operator=(const RequestReader&) = delete;

  /// Room for the next bytes, never empty. Throws std::bad_alloc.
  std::span<char> space();
  void add(std::size_t bytes) { end_ += bytes; }
  Step step();

  Phase phase() const { return phase_; }
  Request& request() { return request_; }
  const Head& head() const { return head_; }
  const Reject& rejected() const { return reject_; }
  /// The request whose head is here, though its body may never be; null before.
  const Request* begun();
  /// Bytes of another request are here already (only meaningful while one is complete).
  bool has_more() const { return end_ > next_ || !behind_.empty(); }

  /// `limit`: of the body's bytes, counted or announced.
  void plan(bool stream, std::uint64_t limit) { streams_ = stream, body_limit_ = limit; }
  // In phase streaming, which becomes complete with the body's last byte; from any one thread.
  bool has_raw() const { return end_ > raw_; }
  /// Copies what is here already.
  Part take_buffered(std::span<char> space);
  /// How much to receive at most when has_raw() is false.
  std::size_t wanted() const;
  /// `received`: from the socket, decoded in place. Bytes of a next request are kept.
  Part take(std::span<char> received);
  /// Passes over what is here of an unread body.
  void skip_buffered();

  /// Forgets the complete request.
  void finish();
  /// Gives the buffer back; only when idle.
  void release();
  /// Gives the buffer back in any phase; the reader is used no more.
  void abandon() { pool_.give(std::move(buffer_)); }

 private:
  Step read_head();
  Step begin_body();
  Step read_body();
  struct Cut {
    Part part;
    std::size_t consumed = 0;
  };
  Cut cut(std::span<char> raw);
  Step complete(std::size_t body_bytes);
  void follow_buffer();
  Step fail(int status, std::string_view reason);

  const ReadLimits limits_;
  BufferPool& pool_;
  const bool asks_;
  bool streams_ = false;
  std::uint64_t body_limit_;
  Buffer buffer_;
  std::size_t end_ = 0;        // bytes in the buffer: head, body so far, and what follows
  std::size_t head_size_ = 0;  // known from phase body on
  std::size_t decoded_ = 0;    // of a chunked body
  std::size_t next_ = 0;       // where the next request begins; known in phase complete
  std::size_t raw_ = 0;        // phase streaming: what stands before it has been taken
  std::uint64_t left_ = 0;     // phase streaming: of an announced length
  std::string behind_;         // received behind a streamed body: the buffer must not move then
  Phase phase_ = Phase::idle;
  bool skipped_empty_line_ = false;
  bool has_head_ = false;
  const char* parsed_at_ = nullptr;  // where the buffer was when the head's views were made
  HeadScanner scanner_;
  ChunkedDecoder chunked_;
  Head head_;
  Reject reject_;
  Request request_;
};

}  // namespace stackgate::http
