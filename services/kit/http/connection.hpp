// One client's connection: TLS handshake, then request after request, then goodbye. Lives on its worker's thread; what
// may come from elsewhere says so.
//
//   handshake ─→ reading ─→ handling ─→ writing ─→ reading …
//                   └──────── reject ──────┴─────→ lingering ─→ closed
//
// While handling, the handler's threads may borrow the socket for a streamed body: body_stream.hpp. They give it back
// with the Outcome of the answer.
#pragma once
#include <atomic>
#include <optional>

#include "services/kit/http/body_stream.hpp"
#include "services/kit/http/reader.hpp"
#include "services/kit/http/stream.hpp"
#include "services/kit/http/worker.hpp"

namespace stackgate::http {

class Connection final : public Watcher, public Responder::Sink, public std::enable_shared_from_this<Connection> {
 public:
  Connection(std::shared_ptr<Worker> worker, int fd, std::string peer);
  ~Connection() override = default;

  /// `place`: where the worker keeps it. `context` is null for plain HTTP.
  void start(Connections::iterator place, ssl_ctx_st* context);
  /// From any thread; see Responder.
  void send(Response&& response) override;
  /// From any thread; see Responder.
  std::unique_ptr<BodyWriter> start(Response&& head, std::optional<std::uint64_t> length) override;
  /// Ends an unoccupied connection politely, with nothing left to say.
  void say_goodbye();
  /// Ends it at once. Safe to call twice.
  void close();
  /// The same because the server itself comes to its end: whoever holds the body is told so.
  void cut();
  /// Bytes wait in the socket or in TLS.
  bool has_input() const;

  // For body_stream.cpp, from the handler's threads.
  enum class Outcome : std::uint8_t {
    none,
    whole,     // ready_ is the answer
    finished,  // streamed to its end
    unbegun,   // dropped before its first byte
    broken,    // dropped later
  };
  /// The socket is the handler's until conclude(); false when it is closed.
  bool borrow();
  /// The head as it is now to be sent: decides whether the connection goes on.
  std::string head_of(const AnswerBody::Shape& shape);
  bool is_cut() const { return custody_.holder() == Custody::Holder::closed; }
  bool is_cut_by_us() const { return cut_by_us_.load(std::memory_order_acquire); }
  bool is_draining() const { return worker_->draining(); }
  Stream& stream() { return stream_; }
  RequestReader& reader() { return reader_; }
  void streamed_in(std::size_t bytes) { worker_->shared().streamed_in.fetch_add(bytes, std::memory_order_relaxed); }
  void streamed_out(std::size_t bytes) { worker_->shared().streamed_out.fetch_add(bytes, std::memory_order_relaxed); }
  void conclude(Outcome outcome);
  void reader_left();

 private:
  enum class State : std::uint8_t { handshake, reading, handling, writing, lingering, closed };

  void on_event(std::uint32_t events) override;
  void on_deadline() override;

  void shake_hands();
  void pump();
  bool receive();
  void wait_for_bytes();
  bool plan_body();
  void dispatch();
  void lend_body();
  void call_handler();
  void settle(Outcome outcome);
  bool take_back();
  void reject(int status, std::string_view reason);
  Response answer_fault(int status, std::string_view reason);
  bool peer_goes_on();
  void answer(const Response& response, bool then_close);
  void push(std::string_view& bytes);
  void write_out(std::string_view bytes);
  void write_on();
  void answered();
  void linger();
  void swallow();
  void watch(std::uint32_t events);
  void move_to(Connections& list);
  void deadline_in(std::chrono::milliseconds limit) {
    worker_->loop().set_deadline(*this, worker_->loop().now() + limit);
  }

  const std::shared_ptr<Worker> worker_;
  Stream stream_;
  RequestReader reader_;
  const std::string peer_;
  Connections* list_ = nullptr;
  Connections::iterator place_;
  State state_ = State::handshake;
  RequestReader::Phase waited_in_ = RequestReader::Phase::complete;  // the phase that the deadline is for
  bool in_handler_ = false;
  bool close_after_ = false;
  std::atomic<bool> cut_by_us_{false};
  Outcome outcome_ = Outcome::none;  // of an answer that waits for its body's reader to come out
  bool refused_ = false;             // ready_ was the policy's: no handler
  bool streams_ = false;             // the policy's plan for the body
  Custody custody_;
  std::uint32_t watched_ = 0;
  std::chrono::milliseconds body_limit_;  // for a buffered body
  Patience patience_{{}, 1};              // with a streamed one
  std::shared_ptr<RequestBody> body_;     // of the request that is handled, if it streams
  std::optional<Response> ready_;         // given while the handler was still running
  std::string unsent_;                    // of the answer that the peer has not taken yet
  std::size_t sent_ = 0;                  // bytes of it that were written
  std::int64_t taken_ = 0;                // bytes of it that the peer had when the deadline was set; below 0: of others
  Clock::time_point head_at_{};           // when the request's head was here
};

}  // namespace stackgate::http
