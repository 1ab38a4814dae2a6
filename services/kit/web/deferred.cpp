#include "services/kit/web/deferred.hpp"

#include <utility>

namespace stackgate::web {
namespace deferred_detail {

// As nginx logs a client that closed before its answer; it is only logged.
constexpr int client_closed_request = 499;

Failure no_answer() { return {500, "the answer could not be made; the log has the details under this request's id"}; }

}  // namespace deferred_detail

void Deferred::answer(Answer answer) {
  std::unique_lock lock(mutex_);
  if (state_ != State::waiting) return;
  state_ = State::ended;
  http::Response response = call_->finished(std::move(answer));
  place_.reset();
  lock.unlock();  // the connection may end in this, and calls ended()
  call_->responder_(std::move(response));
}

void Deferred::start(http::Response head, std::optional<std::uint64_t> length) {
  const std::lock_guard lock(mutex_);
  if (state_ != State::waiting) return;
  add_common_headers(head, call_->request_id());
  outcome_ = {.status = head.status, .whole = false};
  head_only_ = call_->request().method == "HEAD" || head.status == 204 || head.status == 304;
  writer_ = call_->responder_.stream(std::move(head), length);
  state_ = State::streaming;
}

bool Deferred::write(std::string_view bytes) {
  const std::lock_guard lock(mutex_);
  if (state_ != State::streaming || !writer_) return false;
  if (!head_only_) outcome_.bytes_out += bytes.size();
  return writer_->write(bytes);
}

void Deferred::finish() {
  const std::lock_guard lock(mutex_);
  if (!writer_) return;
  writer_->finish();
  writer_.reset();  // recorded when all of it has left: ended()
}

void Deferred::on_closed(std::move_only_function<void()> then) {
  std::unique_lock lock(mutex_);
  if (state_ != State::ended) {
    std::swap(on_closed_, then);
  } else if (closed_) {
    lock.unlock();
    then();
  }
}

void Deferred::on_writable(std::move_only_function<void()> then) {
  const std::lock_guard lock(mutex_);
  if (state_ == State::waiting) on_writable_ = std::move(then);
}

bool Deferred::stopping() const {
  const std::lock_guard lock(mutex_);
  return state_ == State::ended || (writer_ && writer_->draining()) || call_->stopping();
}

void Deferred::drop() {
  {
    const std::lock_guard lock(mutex_);
    dropped_ = true;
    writer_.reset();  // unfinished: the connection is cut, which ends this
    if (handler_runs_) return;
  }
  answer(deferred_detail::no_answer());
}

void Deferred::handler_returned(Answer answer) {
  {
    const std::lock_guard lock(mutex_);
    handler_runs_ = false;
    if (std::holds_alternative<Later>(answer)) {
      if (!dropped_) return;
      answer = deferred_detail::no_answer();
    }
  }
  this->answer(std::move(answer));
}

// Unlocked: the function is set before the answer starts, and ended() comes on this thread.
void Deferred::writable() {
  if (on_writable_) on_writable_();
}

void Deferred::ended(bool whole) {
  std::unique_lock lock(mutex_);
  if (state_ != State::ended) {
    if (state_ == State::waiting) outcome_.status = deferred_detail::client_closed_request;
    outcome_.whole = whole;
    closed_ = !whole;
    state_ = State::ended;
    call_->recorded(outcome_);
    place_.reset();
  }
  auto closed = std::exchange(on_closed_, nullptr);
  const auto writable = std::exchange(on_writable_, nullptr);
  const auto writer = std::move(writer_);
  const bool is_closed = closed_;
  lock.unlock();  // what they hold may go with them, this too
  if (is_closed && closed) closed();
}

}  // namespace stackgate::web
