// One client's connection: TLS handshake, then request after request, then goodbye. Lives on its worker's thread; only
// send() may come from elsewhere.
//
//   handshake ─→ reading ─→ handling ─→ writing ─→ reading …
//                   └──────── reject ──────┴─────→ lingering ─→ closed
#pragma once
#include <optional>

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
  std::unique_ptr<BodyWriter> start(Response&& head, std::optional<std::uint64_t> length) override;
  /// Ends an unoccupied connection politely, with nothing left to say.
  void say_goodbye();
  /// Ends it at once. Safe to call twice.
  void close();
  /// Bytes wait in the socket or in TLS.
  bool has_input() const;

 private:
  enum class State : std::uint8_t { handshake, reading, handling, writing, lingering, closed };

  void on_event(std::uint32_t events) override;
  void on_deadline() override;

  void shake_hands();
  void pump();
  bool receive();
  void wait_for_bytes();
  void dispatch();
  void reject(int status, std::string_view reason);
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
  std::uint32_t watched_ = 0;
  std::optional<Response> ready_;  // given while the handler was still running
  std::string unsent_;             // of the answer that the peer has not taken yet
  std::size_t sent_ = 0;           // bytes of it that it has
};

}  // namespace stackgate::http
