// One client's connection: TLS handshake, then request after request, then shutdown. Lives on its worker's thread; what
// other threads may call is marked.
//
//   handshake ─→ reading ─→ handling ─→ writing or streaming ─→ reading …
//                   └──────── reject ──────┴────────────────────→ lingering ─→ closed
//
// While handling, the handler's threads may borrow the socket for a streamed body: body_stream.hpp. They give it back
// with the Outcome of the answer. Streaming: the loop sends what is put into the outbox (connection_send.cpp).
#pragma once
#include <atomic>
#include <optional>

#include "services/kit/http/body_stream.hpp"
#include "services/kit/http/outbox.hpp"
#include "services/kit/http/reader.hpp"
#include "services/kit/http/stream.hpp"
#include "services/kit/http/worker.hpp"

namespace stackgate::http {

class Connection final : public Watched, public Responder::Sink {
 public:
  Connection(std::shared_ptr<Worker> worker, int fd, std::string peer);
  ~Connection() override = default;

  /// `place`: where the worker keeps it. `context` is null for plain HTTP.
  void start(Connections::iterator place, ssl_ctx_st* context);
  /// From any thread; see Responder.
  void send(Response&& response) override;
  /// From any thread; see Responder.
  std::unique_ptr<BodyWriter> start(Response&& head, std::optional<std::uint64_t> length) override;
  /// From any thread; see Responder.
  std::unique_ptr<AsyncBodyWriter> stream(Response&& head, std::optional<std::uint64_t> length) override;
  /// From any thread; see Responder.
  void observe(std::shared_ptr<AnswerWatcher> watcher) override;
  /// From any thread: something has been put into the outbox.
  void send_later(const std::shared_ptr<Outbox>& outbox);
  /// Ends an idle connection with TLS close_notify and FIN.
  void begin_closing();
  /// Ends it at once. Safe to call twice.
  void close();
  /// The same when the server ends, which the errors of open bodies then name.
  void cut();
  /// Bytes wait in the socket or in TLS.
  bool has_input() const;

  // For body_stream.cpp, from the handler's threads.
  enum class Outcome : std::uint8_t {
    none,
    whole,     // ready_ is the answer
    finished,  // streamed to its end
    streams,   // through the outbox, from now on
    unbegun,   // dropped before its first byte
    broken,    // dropped later
  };
  /// The socket is the handler's until conclude(); false when it is closed.
  bool borrow();
  /// The head as it is now to be sent: decides whether the connection goes on.
  std::string head_of(const AnswerBody::Shape& shape);
  bool is_cut() const { return socket_owner_.holder() == SocketOwner::Holder::closed; }
  bool is_cut_by_us() const { return cut_by_us_.load(std::memory_order_acquire); }
  bool is_draining() const { return worker_->draining(); }
  Stream& stream() { return stream_; }
  RequestReader& reader() { return reader_; }
  void streamed_in(std::size_t bytes) { worker_->shared().streamed_in.fetch_add(bytes, std::memory_order_relaxed); }
  void streamed_out(std::size_t bytes) { worker_->shared().streamed_out.fetch_add(bytes, std::memory_order_relaxed); }
  void conclude(Outcome outcome);
  void reader_left();

 private:
  enum class State : std::uint8_t { handshake, reading, handling, writing, streaming, lingering, closed };

  void on_event(Event event) override;
  void on_deadline() override;

  void shake_hands();
  void pump();
  void go_on();
  bool has_begun_next();
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
  AnswerBody::Shape shape_of(Response&& head, std::optional<std::uint64_t> length);
  void begin_to_stream();
  void send_what_waits();
  void look_for_peer();
  void linger();
  void swallow();
  bool is_broken() const;
  void move_to(Connections& list);
  void deadline_in(std::chrono::milliseconds limit) { set_deadline(Clock::now() + limit); }
  std::shared_ptr<Connection> self() { return std::static_pointer_cast<Connection>(shared_from_this()); }

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
  SocketOwner socket_owner_;
  std::chrono::milliseconds body_limit_;     // for a buffered body
  ProgressTimeout progress_timeout_{{}, 1};  // with a streamed one
  std::shared_ptr<RequestBody> body_;        // of the request that is handled, if it streams
  std::optional<Response> ready_;            // given while the handler was still running
  std::string unsent_;                       // of the answer that the peer has not taken yet
  std::size_t sent_ = 0;                     // bytes of it that were written
  std::int64_t taken_ = 0;       // bytes of it that the peer had when the deadline was set; below 0: of others
  Clock::time_point head_at_{};  // when the request's head was here
  std::shared_ptr<AnswerWatcher> watcher_;
  std::shared_ptr<Outbox> outbox_;  // of an answer that streams
  bool waits_for_peer_ = false;     // streaming: to take what is unsent; the deadline is for that
};

}  // namespace stackgate::http
