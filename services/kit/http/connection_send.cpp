// The part of a connection that sends: whole answers, and those that no thread waits for, whose clients may leave.
#include <exception>

#include <poll.h>

#include "services/kit/http/connection.hpp"
#include "services/kit/http/writer.hpp"
#include "services/kit/log/log.hpp"

namespace stackgate::http {
namespace connection_send_detail {

// After so many writes the other connections get their turn.
constexpr int turns = 16;
constexpr std::size_t kept = 16 * 1024, scratch_kept = 256 * 1024;
// How often to look for a client that has sent more than its request: what it sent hides its leaving.
constexpr std::chrono::milliseconds look_again{100};

}  // namespace connection_send_detail

void Connection::reject(int status, std::string_view reason) {
  worker_->tallies().rejected.add();
  move_to(worker_->busy());
  answer(answer_fault(status, reason), true);
}

Response Connection::answer_fault(int status, std::string_view reason) {
  const auto& render = worker_->shared().config.fault_answer;
  if (!render) return plain_answer(status, reason);
  Fault fault{.status = status, .reason = reason, .request = reader_.begun(), .peer = peer_};
  if (fault.request != nullptr) {
    reader_.request().peer = peer_;
    if (head_at_ != Clock::time_point()) fault.took = Clock::now() - head_at_;
  }
  try {
    return render(fault);
  } catch (const std::exception& error) {
    log::error("an error could not be written in its API's format", {{"peer", peer_}, {"error", error.what()}});
    return plain_answer(status, reason);
  }
}

void Connection::answer(const Response& response, bool then_close) {
  reader_.skip_buffered();
  const bool whole = reader_.phase() == RequestReader::Phase::complete;
  const bool known = whole || reader_.phase() == RequestReader::Phase::streaming;
  close_after_ = then_close || worker_->draining() || (known && !(whole && reader_.head().keep_alive));
  WriteOptions options;
  options.date = worker_->date();
  options.head_only = known && reader_.request().method == "HEAD";
  options.close = close_after_;
  options.keep_alive = known && reader_.head().http10 && !close_after_;
  std::string& out = worker_->scratch();
  out.clear();
  append_response(out, response, options);
  write_out(out);
  if (out.capacity() > connection_send_detail::scratch_kept) std::string().swap(out);
}

// Writes what the socket takes and leaves the rest in `bytes`.
void Connection::push(std::string_view& bytes) {
  while (!bytes.empty()) {
    const Stream::Result result = stream_.write(bytes);
    switch (result.state) {
      case Stream::State::done:
        bytes.remove_prefix(result.bytes);
        worker_->tallies().bytes_written.add(result.bytes);
        continue;
      case Stream::State::want_read:
        return wait_for(Event::readable);
      case Stream::State::want_write:
        return wait_for(Event::writable);
      case Stream::State::closed:
      case Stream::State::failed:
        return close();
    }
  }
}

void Connection::write_out(std::string_view bytes) {
  push(bytes);
  if (bytes.empty()) {
    answered();
  } else if (state_ != State::closed) {
    unsent_.assign(bytes);
    sent_ = 0;
    taken_ = -static_cast<std::int64_t>(stream_.unconfirmed());
    state_ = State::writing;
    deadline_in(worker_->limits().write);
  }
}

// Has it taken enough since the deadline was set? What counts is what has arrived: the kernel holds megabytes.
bool Connection::peer_goes_on() {
  const auto taken = static_cast<std::int64_t>(sent_) - static_cast<std::int64_t>(stream_.unconfirmed());
  const bool goes_on = taken - taken_ >= static_cast<std::int64_t>(worker_->limits().write_progress);
  taken_ = taken;
  return goes_on;
}

void Connection::write_on() {
  std::string_view rest = std::string_view(unsent_).substr(sent_);
  push(rest);
  sent_ = unsent_.size() - rest.size();
  if (rest.empty()) answered();
}

void Connection::answered() {
  if (outbox_) std::exchange(outbox_, nullptr)->close();
  if (watcher_) std::exchange(watcher_, nullptr)->ended(true);
  if (unsent_.capacity() > 0) std::string().swap(unsent_);
  clear_deadline();
  if (close_after_) {
    const bool peer_may_be_sending =
        reader_.phase() != RequestReader::Phase::complete || reader_.has_more() || has_input();
    stream_.shutdown();
    peer_may_be_sending ? linger() : close();
    return;
  }
  body_.reset();
  reader_.finish();
  state_ = State::reading;
  wait_for(Event::readable);
}

AsyncBodyWriter::~AsyncBodyWriter() {
  if (outbox_->end(Outbox::End::dropped).wake) connection_->send_later(outbox_);
}

bool AsyncBodyWriter::write(std::string_view bytes) {
  const auto put = outbox_->put(bytes);
  if (put.wake) connection_->send_later(outbox_);
  return put.more;
}

void AsyncBodyWriter::finish() {
  if (outbox_->end(Outbox::End::finished).wake) connection_->send_later(outbox_);
}

bool AsyncBodyWriter::draining() const { return connection_->is_draining(); }

std::unique_ptr<AsyncBodyWriter> Connection::stream(Response&& head, std::optional<std::uint64_t> length) {
  return std::make_unique<AsyncBodyWriter>(self(), std::make_shared<Outbox>(shape_of(std::move(head), length)));
}

void Connection::observe(std::shared_ptr<AnswerWatcher> watcher) {
  if (!worker_->loop().on_this_thread()) {
    const bool posted = worker_->loop().post_batched([self = self(), watcher] { self->observe(watcher); });
    if (!posted) watcher->ended(false);
    return;
  }
  if (state_ != State::handling) return watcher->ended(false);
  watcher_ = std::move(watcher);
  if (!in_handler_ && socket_owner_.holder() == SocketOwner::Holder::loop) look_for_peer();
}

void Connection::send_later(const std::shared_ptr<Outbox>& outbox) {
  const bool posted = worker_->loop().post_batched([self = self(), box = outbox] {
    if (self->state_ == State::handling) {
      self->outbox_ = box;
      self->settle(box->is_begun() ? Outcome::streams : Outcome::unbegun);
    } else if (self->outbox_ == box) {
      self->send_what_waits();
    } else {
      box->close();
    }
    self->go_on();
  });
  if (!posted) outbox->close();
}

void Connection::begin_to_stream() {
  unsent_ = head_of(outbox_->shape());
  sent_ = 0;
  state_ = State::streaming;
  look_for_peer();
  if (state_ == State::streaming) send_what_waits();
}

void Connection::send_what_waits() {
  auto end = Outbox::End::open;
  bool was_stuck = !unsent_.empty() && waits_for_peer_;
  for (int turn = 0;; ++turn) {
    if (!was_stuck) end = outbox_->take(unsent_);
    std::string_view rest = std::string_view(unsent_).substr(sent_);
    const bool is_empty = rest.empty();
    push(rest);
    if (state_ != State::streaming) return;
    sent_ = unsent_.size() - rest.size();
    if (outbox_->has_room_for_writer(rest.size()) && watcher_) watcher_->writable();
    if (!rest.empty()) {
      if (!was_stuck) {
        waits_for_peer_ = true;
        taken_ = static_cast<std::int64_t>(sent_) - static_cast<std::int64_t>(stream_.unconfirmed());
        deadline_in(worker_->limits().write);
      }
      return;
    }
    if (std::exchange(waits_for_peer_, false)) clear_deadline();
    was_stuck = false;
    sent_ = 0;
    unsent_.clear();
    if (unsent_.capacity() > connection_send_detail::kept) std::string().swap(unsent_);
    if (end == Outbox::End::dropped) return close();
    if (end == Outbox::End::finished) {
      reader_.skip_buffered();
      close_after_ |= worker_->draining() || reader_.phase() != RequestReader::Phase::complete;
      state_ = State::writing;  // whole: nothing is reset any more
      return answered();
    }
    if (is_empty) return;
    if (turn == connection_send_detail::turns) return send_later(outbox_);
  }
}

// Closes when the client has left.
void Connection::look_for_peer() {
  pollfd entry{stream_.fd(), POLLRDHUP, 0};
  if (::poll(&entry, 1, 0) > 0) return close();
  if (!has_input()) return wait_for(Event::readable);
  wait_for(Event::broken);
  if (!waits_for_peer_) deadline_in(connection_send_detail::look_again);
}

}  // namespace stackgate::http
