// The receiving half of an HTTP/1.1 connection without its socket: bytes go in, requests come out, one at a time and
// in order. What has been pipelined behind a request waits in the buffer until finish().
//
// Streaming bodies can be added here later: a Step "body_part" beside "request", asked for by the handler when it has
// seen the head; buffer and framing are already separate from the request.
#pragma once
#include <cstddef>
#include <cstdint>
#include <span>

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
    request,        // request() is whole; finish() when it has been answered
    reject,         // answer rejected() and close
  };
  enum class Phase : std::uint8_t { idle, head, body, complete, rejected };

  /// The pool must outlive the reader.
  RequestReader(const ReadLimits& limits, BufferPool& pool) : limits_(limits), pool_(pool) {}
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
  /// Bytes of another request are here already (only meaningful while one is complete).
  bool has_more() const { return end_ > next_; }
  /// Forgets the complete request.
  void finish();
  /// Gives the buffer back; only when idle.
  void release();
  /// Gives the buffer back in any phase; the reader is used no more.
  void abandon() { pool_.give(std::move(buffer_)); }

 private:
  Step read_head();
  Step read_body();
  Step complete(std::size_t body_bytes);
  Step fail(int status, std::string_view reason);

  const ReadLimits limits_;
  BufferPool& pool_;
  Buffer buffer_;
  std::size_t end_ = 0;        // bytes in the buffer: head, body so far, and what follows
  std::size_t head_size_ = 0;  // known from phase body on
  std::size_t decoded_ = 0;    // of a chunked body
  std::size_t next_ = 0;       // where the next request begins; known in phase complete
  Phase phase_ = Phase::idle;
  bool skipped_empty_line_ = false;
  const char* parsed_at_ = nullptr;  // where the buffer was when the head's views were made
  HeadScanner scanner_;
  ChunkedDecoder chunked_;
  Head head_;
  Reject reject_;
  Request request_;
};

}  // namespace stackgate::http
