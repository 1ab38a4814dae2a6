// The part of a connection that lends its socket for streamed bodies.
#include <exception>

#include <sys/socket.h>

#include "services/kit/base/time.hpp"
#include "services/kit/http/connection.hpp"
#include "services/kit/log/log.hpp"

namespace stackgate::http {

// The head is here: asks what becomes of the body. False when the connection was rejected.
bool Connection::plan_body() {
  Request& request = reader_.request();
  request.peer = peer_;
  head_at_ = Clock::now();
  BodyPlan plan;
  try {
    plan = worker_->shared().config.body_policy(request);
  } catch (const std::exception& error) {
    log::error("a body policy failed", {{"path", request.path}, {"peer", peer_}, {"error", error.what()}});
    reject(500, "the request could not be judged");
    return false;
  }
  constexpr std::uint64_t no_limit = ~std::uint64_t{0};
  refused_ = plan.refusal.has_value();
  if (refused_) ready_ = std::move(plan.refusal);
  reader_.plan(plan.stream || refused_, refused_ || (plan.stream && plan.body_bytes == 0) ? no_limit : plan.body_bytes);
  body_limit_ = plan.body;
  progress_timeout_ = ProgressTimeout(plan.pause, plan.progress);
  streams_ = plan.stream && !refused_;
  return true;
}

void Connection::lend_body() {
  const bool empty = reader_.phase() == RequestReader::Phase::complete;
  if (!empty) unwatch();  // each packet would wake the loop, while the handler's thread reads
  body_ = std::make_shared<RequestBody>(self(), progress_timeout_, reader_.head(), empty);
  reader_.request().stream = body_;
}

bool Connection::borrow() { return socket_owner_.lend() != SocketOwner::Holder::closed; }

// False when the kernel refuses to watch the socket again.
bool Connection::take_back() {
  socket_owner_.take_back();
  return is_watching() || watch(stream_.fd());
}

std::unique_ptr<BodyWriter> Connection::start(Response&& head, std::optional<std::uint64_t> length) {
  return std::make_unique<AnswerBody>(self(), body_,
                                      ProgressTimeout(worker_->limits().write, worker_->limits().write_progress),
                                      shape_of(std::move(head), length));
}

AnswerBody::Shape Connection::shape_of(Response&& head, std::optional<std::uint64_t> length) {
  AnswerBody::Shape shape;
  shape.swallow = reader_.request().method == "HEAD" || !may_have_body(head.status);
  shape.framing = length ? Framing::length : reader_.head().http10 ? Framing::until_close : Framing::chunked;
  shape.length = length.value_or(0);
  shape.head = std::move(head);
  return shape;
}

std::string Connection::head_of(const AnswerBody::Shape& shape) {
  const Head& asked = reader_.head();
  // Who has not begun to read the request's body by now will hardly do so.
  close_after_ = worker_->draining() || !asked.keep_alive || (body_ && !body_->is_begun()) ||
                 (shape.framing == Framing::until_close && !shape.swallow);
  const std::string date = to_http_date(std::chrono::floor<std::chrono::seconds>(std::chrono::system_clock::now()));
  WriteOptions options;
  options.date = date;
  options.close = close_after_;
  options.keep_alive = asked.http10 && !close_after_;
  std::string out;
  append_head(out, shape.head, options, shape.framing, shape.length);
  return out;
}

void Connection::conclude(Outcome outcome) {
  worker_->loop().post([self = self(), outcome] {
    self->settle(outcome);
    self->go_on();
  });
}

void Connection::reader_left() {
  worker_->loop().post([self = self()] {
    if (self->outcome_ == Outcome::none) return;
    self->settle(self->outcome_);
    self->go_on();
  });
}

// Ends the handling of a request, as soon as no thread reads its body any more.
void Connection::settle(Outcome outcome) {
  if (state_ != State::handling) return;
  outcome_ = outcome;
  if (body_ && !body_->end()) return;
  outcome_ = Outcome::none;
  if (!take_back()) {
    log::error("a connection was cut: the kernel does not watch it", {{"peer", peer_}});
    return close();
  }
  switch (outcome) {
    case Outcome::none:
      break;
    case Outcome::whole: {
      if (!ready_) return close();
      const Response response = std::move(*ready_);
      ready_.reset();
      answer(response, false);
      break;
    }
    case Outcome::finished:
      reader_.skip_buffered();
      close_after_ |= worker_->draining() || reader_.phase() != RequestReader::Phase::complete;
      answered();
      break;
    case Outcome::streams:
      begin_to_stream();
      break;
    case Outcome::unbegun:
      answer(plain_answer(500, "the answer was dropped by its handler before it began"), false);
      break;
    case Outcome::broken:
      stream_.reset_on_close();  // an HTTP/1.0 body ends with the connection: this one has no end
      close();
      break;
  }
}

}  // namespace stackgate::http
