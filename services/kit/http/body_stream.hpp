// The two ends of body.hpp over a connection's socket. While a body passes, the handler's threads hold the socket and
// the loop does not watch it:
//
//   loop ──borrow() by the first read or write that needs it──→ handler ──end of the answer──→ loop
//     └───────────────── close() ─────────────────→ closed ←─── close(): shut down, so that waiting calls return
//
// A TLS session has one user at a time (wire()), a plain socket may be read and written at once.
#pragma once
#include <array>
#include <atomic>
#include <chrono>
#include <memory>
#include <mutex>
#include <string>

#include "services/kit/http/body.hpp"
#include "services/kit/http/reader.hpp"
#include "services/kit/http/stream.hpp"
#include "services/kit/http/writer.hpp"

namespace stackgate::http {

/// Who may use the socket.
class SocketOwner {
 public:
  enum class Holder : std::uint8_t { loop, handler, closed };
  Holder holder() const { return holder_.load(std::memory_order_acquire); }
  /// To the handler, from any thread. What it was before; nothing happens when it is closed.
  Holder lend();
  /// To the loop, on the loop's thread.
  void take_back();
  /// On the loop's thread. What it was before: the socket is the loop's to close only if the loop held it.
  Holder close() { return holder_.exchange(Holder::closed, std::memory_order_acq_rel); }

 private:
  std::atomic<Holder> holder_{Holder::loop};
};

/// How long a peer may make no progress. Only time spent waiting for it counts.
class ProgressTimeout {
 public:
  enum class Verdict : std::uint8_t { ready, too_slow, stopped };
  ProgressTimeout(std::chrono::milliseconds pause, std::uint64_t progress) : pause_(pause), progress_(progress) {}
  /// Waits for poll(2) events; looks at `stopped` first and then every 100 ms.
  template <class Stopped>
  Verdict wait(int fd, short events, const Stopped& stopped) {
    while (!stopped()) {
      if (waited_ >= pause_) return Verdict::too_slow;
      if (poll_once(fd, events)) return Verdict::ready;
    }
    return Verdict::stopped;
  }
  void progressed(std::size_t bytes);
  /// As long again as at first.
  void renew() { since_ = 0, waited_ = {}; }
  bool is_whole() const { return waited_ == waited_.zero(); }
  std::uint64_t progress() const { return progress_; }

 private:
  bool poll_once(int fd, short events);

  std::chrono::nanoseconds pause_;
  std::uint64_t progress_;
  std::chrono::nanoseconds waited_{0};
  std::uint64_t since_ = 0;  // bytes since the timeout was renewed
};

class RequestBody final : public BodyReader {
 public:
  /// The connection is held only during a call: it owns the request that owns this.
  RequestBody(std::weak_ptr<Connection> connection, const ProgressTimeout& progress_timeout, const Head& head,
              bool empty);

  std::expected<std::size_t, BodyError> read(std::span<char> space) override;
  std::optional<std::uint64_t> length() const override { return length_; }

  // For the connection and the answer.
  /// No read from now on. False while a thread is in one: it calls Connection::reader_left() when it comes out.
  bool end();
  /// Somebody has begun to read, or there is nothing to read.
  bool is_begun() const { return begun_.load(std::memory_order_relaxed); }
  std::mutex& wire() { return wire_; }
  /// Under wire(): from now on a "100 Continue" would stand in the answer.
  void answer_begins() { asks_for_body_ = false; }

 private:
  std::expected<std::size_t, BodyError> receive(Connection& connection, std::span<char> space);
  std::expected<std::size_t, BodyError> passed_on(const RequestReader::Part& part);
  Stream::Result receive_once(Stream& stream, std::span<char> room);
  std::expected<void, BodyError> ask_for_body(Connection& connection);
  bool is_ended();

  const std::weak_ptr<Connection> connection_;
  const std::optional<std::uint64_t> length_;
  ProgressTimeout progress_timeout_;
  std::optional<BodyError> failed_;  // the result of every further read
  std::atomic<bool> begun_;
  std::mutex mutex_;  // of the next two
  bool reading_ = false;
  bool ended_ = false;
  std::mutex wire_;
  std::atomic<bool> asks_for_body_;  // "100 Continue" is owed; decided under wire_
};

class AnswerBody final : public BodyWriter {
 public:
  struct Shape {
    Response head;  // its body is not looked at
    Framing framing = Framing::length;
    std::uint64_t length = 0;  // Framing::length: of the body
    bool swallow = false;      // only the head is sent
  };
  AnswerBody(std::shared_ptr<Connection> connection, std::shared_ptr<RequestBody> request,
             const ProgressTimeout& progress_timeout, Shape&& shape);
  ~AnswerBody() override;

  std::expected<void, Error> write(std::string_view bytes) override;
  std::expected<void, Error> send_file(int fd, std::uint64_t offset, std::uint64_t length) override;
  std::expected<void, Error> finish() override;
  bool gone() const override;
  bool draining() const override;

 private:
  using Done = std::expected<void, Error>;
  using Pieces = std::array<std::string_view, 4>;
  Done account(std::uint64_t bytes);
  std::string chunk_size(std::uint64_t bytes) const;
  Done send(Pieces pieces, bool more = false);
  Done send_secure(const Pieces& pieces);
  Done send_plain(Pieces& pieces, bool more);
  Done copy_file(int fd, std::uint64_t offset, std::uint64_t length);
  void went_out(std::size_t bytes);
  std::int64_t taken() const;
  Done wait(short events);
  Done fail(std::string why);
  Done fail_gone();

  const std::shared_ptr<Connection> connection_;
  const std::shared_ptr<RequestBody> request_;  // null when the request was buffered
  ProgressTimeout progress_timeout_;
  const Shape shape_;
  std::uint64_t left_;  // of the announced length
  std::uint64_t sent_ = 0;
  std::int64_t taken_ = 0;  // by the peer, when it was last waited for after a renewal
  std::optional<Error> failed_;
  bool head_sent_ = false;
  bool finished_ = false;
};

}  // namespace stackgate::http
