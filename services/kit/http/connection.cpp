#include "services/kit/http/connection.hpp"

#include <cerrno>
#include <exception>
#include <new>

#include <poll.h>
#include <sys/socket.h>

#include "services/kit/log/log.hpp"

namespace stackgate::http {
namespace connection_detail {

// After so many reads and requests the other connections get their turn.
constexpr int turns_per_event = 64;
// How long a peer may go on sending after its answer before the connection is cut.
constexpr std::chrono::milliseconds linger_limit{2'000};
constexpr std::chrono::milliseconds first_request_while_draining{1'000};

}  // namespace connection_detail

Connection::Connection(std::shared_ptr<Worker> worker, int fd, std::string peer)
    : Watched(worker->loop()),
      worker_(std::move(worker)),
      stream_(fd),
      reader_({worker_->limits().head_bytes, worker_->limits().body_bytes}, worker_->pool(),
              worker_->shared().config.body_policy != nullptr),
      peer_(std::move(peer)),
      body_limit_(worker_->limits().body) {}

void Connection::start(Connections::iterator place, ssl_ctx_st* context) {
  list_ = &worker_->greeting();
  place_ = place;
  if (context == nullptr) state_ = State::reading;
  if ((context != nullptr && !stream_.secure(context)) || !watch(stream_.fd())) {
    log::error("cannot serve a connection: out of memory", {{"peer", peer_}});
    close();
    return;
  }
  // A plain connection owes its first request as soon as a TLS one owes its handshake.
  deadline_in(worker_->limits().handshake);
  wait_for(Event::readable);
}

void Connection::on_event(Event event) {
  switch (state_) {
    case State::handshake:
      shake_hands();
      break;
    case State::reading:
      pump();
      break;
    case State::handling:
      if (socket_owner_.holder() == SocketOwner::Holder::handler) break;
      if (watcher_) {
        look_for_peer();
      } else if (event == Event::readable) {
        wait_for(Event::broken);  // what has come is read after the answer
      } else if (is_broken()) {
        close();
      }
      break;
    case State::writing:
      write_on();
      go_on();
      break;
    case State::streaming:
      send_what_waits();
      if (state_ == State::streaming && event != Event::writable) look_for_peer();
      go_on();
      break;
    case State::lingering:
      swallow();
      if (state_ == State::lingering) wait_for(Event::readable);
      break;
    case State::closed:
      break;
  }
}

void Connection::on_deadline() {
  switch (state_) {
    case State::handshake:
      worker_->tallies().handshake_failures.add();
      close();
      break;
    case State::reading:
      if (reader_.phase() == RequestReader::Phase::head || reader_.phase() == RequestReader::Phase::body) {
        reject(408, "the request did not arrive in time");
      } else {
        begin_closing();
      }
      break;
    case State::writing:
      if (peer_goes_on()) {
        deadline_in(worker_->limits().write);
        break;
      }
      worker_->tallies().rejected.add();
      close();
      break;
    case State::streaming:
      if (!waits_for_peer_) {
        look_for_peer();
      } else if (peer_goes_on()) {
        deadline_in(worker_->limits().write);
      } else {
        worker_->tallies().rejected.add();
        close();
      }
      break;
    case State::handling:
      if (watcher_ && socket_owner_.holder() == SocketOwner::Holder::loop) look_for_peer();
      break;
    case State::closed:
      break;
    case State::lingering:
      close();
      break;
  }
}

void Connection::shake_hands() {
  switch (stream_.handshake().state) {
    case Stream::State::done:
      worker_->tallies().handshakes.add();
      state_ = State::reading;
      stream_.has_buffered() ? pump() : wait_for_bytes();
      return;
    case Stream::State::want_read:
      wait_for(Event::readable);
      return;
    case Stream::State::want_write:
      wait_for(Event::writable);
      return;
    case Stream::State::closed:  // a port probe, as load balancers do
      log::debug("TLS handshake not finished", {{"peer", peer_}, {"reason", stream_.failure()}});
      break;
    case Stream::State::failed:
      // "unknown certificate authority" here means that the webhook configuration's caBundle is wrong: worth a line.
      if (worker_->may_complain())
        log::warning("TLS handshake failed", {{"peer", peer_}, {"reason", stream_.failure()}});
      break;
  }
  worker_->tallies().handshake_failures.add();
  close();
}

// Reads and answers until there is nothing to do without waiting.
void Connection::pump() {
  using Step = RequestReader::Step;
  for (int turn = 0; turn < connection_detail::turns_per_event; ++turn) {
    switch (reader_.step()) {
      case Step::plan:
        if (!plan_body()) return;
        break;
      case Step::request:
        dispatch();
        if (state_ != State::reading || !has_begun_next()) return;
        break;
      case Step::send_continue:
        if (stream_.write("HTTP/1.1 100 Continue\r\n\r\n").state != Stream::State::done) {
          close();
          return;
        }
        break;
      case Step::reject:
        reject(reader_.rejected().status, reader_.rejected().reason);
        return;
      case Step::need_more:
        if (!receive()) return;
        break;
    }
  }
  worker_->loop().post([self = self()] {
    if (self->state_ == State::reading) self->pump();
  });
}

// After an answer.
void Connection::go_on() {
  if (state_ == State::reading && has_begun_next()) pump();
}

// Without anything of the next request the connection waits: a read would be a system call for nothing.
bool Connection::has_begun_next() {
  if (reader_.phase() != RequestReader::Phase::idle || stream_.has_buffered()) return true;
  wait_for_bytes();
  return false;
}

// False when the connection waits or has ended.
bool Connection::receive() {
  std::span<char> space;
  try {
    space = reader_.space();
  } catch (const std::bad_alloc&) {
    log::error("a request was cut off: out of memory", {{"peer", peer_}});
    close();
    return false;
  }
  const Stream::Result result = stream_.read(space);
  switch (result.state) {
    case Stream::State::done:
      reader_.add(result.bytes);
      worker_->tallies().bytes_read.add(result.bytes);
      return true;
    case Stream::State::want_write:  // a TLS key update; the next event retries
      wait_for(Event::writable);
      return false;
    case Stream::State::want_read:
      wait_for_bytes();
      return false;
    case Stream::State::closed:
    case Stream::State::failed:
      close();
      return false;
  }
  return false;
}

void Connection::wait_for_bytes() {
  using Phase = RequestReader::Phase;
  wait_for(Event::readable);
  const Phase phase = reader_.phase();
  if (phase == Phase::idle) {
    reader_.release();
    move_to(worker_->idle());
  }
  if (phase == waited_in_) return;  // the deadline is for the whole phase
  waited_in_ = phase;
  const Limits& limits = worker_->limits();
  switch (phase) {
    case Phase::idle:
      deadline_in(worker_->draining() ? connection_detail::first_request_while_draining : limits.idle);
      break;
    case Phase::head:
      deadline_in(limits.head);
      break;
    case Phase::body:
      deadline_in(body_limit_);
      break;
    case Phase::planning:
    case Phase::streaming:
    case Phase::complete:
    case Phase::rejected:
      break;
  }
  if (phase != Phase::idle) move_to(worker_->greeting());
}

void Connection::dispatch() {
  Worker& worker = *worker_;
  worker.tallies().requests.add();
  clear_deadline();
  move_to(worker.busy());
  state_ = State::handling;
  waited_in_ = RequestReader::Phase::complete;
  reader_.request().peer = peer_;
  if (refused_) {
    refused_ = false;
  } else {
    if (streams_) lend_body();
    call_handler();
  }
  ready_ ? settle(Outcome::whole) : wait_for(Event::readable);
}

void Connection::call_handler() {
  const Request& request = reader_.request();
  in_handler_ = true;
  try {
    worker_->shared().handler(request, Responder(self()));
  } catch (const std::exception& error) {  // the Responder that went down with it has answered 500
    log::error("a request handler failed", {{"path", request.path}, {"peer", peer_}, {"error", error.what()}});
  } catch (...) {
    log::error("a request handler failed",
               {{"path", request.path}, {"peer", peer_}, {"error", "not a std::exception"}});
  }
  in_handler_ = false;
}

void Connection::send(Response&& response) {
  if (!worker_->loop().on_this_thread()) {
    worker_->loop().post_batched(
        [self = self(), moved = std::move(response)]() mutable { self->send(std::move(moved)); });
    return;
  }
  if (state_ != State::handling) return;  // closed meanwhile
  ready_ = std::move(response);
  if (in_handler_) return;
  settle(Outcome::whole);
  go_on();
}

// Closing a socket with unread bytes resets it, and the reset can overtake the answer: so they are read and dropped.
void Connection::linger() {
  state_ = State::lingering;
  wait_for(Event::readable);
  deadline_in(connection_detail::linger_limit);
  swallow();
}

void Connection::swallow() {
  char dropped[16 * 1024];
  for (int turn = 0; turn < connection_detail::turns_per_event; ++turn) {
    const ssize_t n = ::recv(stream_.fd(), dropped, sizeof dropped, 0);
    if (n > 0) continue;
    if (n == 0 || (errno != EAGAIN && errno != EINTR)) close();
    return;
  }
}

bool Connection::has_input() const {
  if (stream_.has_buffered()) return true;
  char byte = 0;
  return ::recv(stream_.fd(), &byte, 1, MSG_PEEK | MSG_DONTWAIT) > 0;
}

void Connection::begin_closing() {
  if (state_ == State::closed) return;
  stream_.shutdown();
  close();
}

void Connection::close() {
  if (state_ == State::closed) return;
  const bool handler_holds_views = state_ == State::handling || state_ == State::streaming;
  const bool is_partly_sent = state_ == State::streaming;
  state_ = State::closed;
  end();
  if (socket_owner_.close() == SocketOwner::Holder::handler) {
    ::shutdown(stream_.fd(), SHUT_RDWR);  // closed with the last owner of this connection
  } else {
    if (is_partly_sent) stream_.reset_on_close();  // an HTTP/1.0 body ends with the connection: this one has no end
    stream_.close();
  }
  if (outbox_) std::exchange(outbox_, nullptr)->close();
  if (watcher_) std::exchange(watcher_, nullptr)->ended(false);
  if (!handler_holds_views) reader_.abandon();
  worker_->closed(*list_, place_);
}

void Connection::cut() {
  cut_by_us_.store(true, std::memory_order_release);  // before the socket is shut down, which wakes a reader
  close();
}

// Urgent data ends the waiting for a break, too.
bool Connection::is_broken() const {
  pollfd entry{stream_.fd(), 0, 0};
  return ::poll(&entry, 1, 0) > 0;
}

void Connection::move_to(Connections& list) {
  list.splice(list.end(), *list_, place_);
  list_ = &list;
}

}  // namespace stackgate::http
