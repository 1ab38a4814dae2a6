// The part of a connection that sends answers that no thread waits for, and notices when their client leaves.
#include <poll.h>

#include "services/kit/http/connection.hpp"

namespace stackgate::http {
namespace connection_stream_detail {

// After so many writes the other connections get their turn.
constexpr int turns = 16;
constexpr std::size_t kept = 16 * 1024;
// How often to look for a client that has sent more than its request: what it sent hides its leaving.
constexpr std::chrono::milliseconds look_again{100};

}  // namespace connection_stream_detail

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
    if (unsent_.capacity() > connection_stream_detail::kept) std::string().swap(unsent_);
    if (end == Outbox::End::dropped) return close();
    if (end == Outbox::End::finished) {
      reader_.skip_buffered();
      close_after_ |= worker_->draining() || reader_.phase() != RequestReader::Phase::complete;
      state_ = State::writing;  // whole: nothing is reset any more
      return answered();
    }
    if (is_empty) return;
    if (turn == connection_stream_detail::turns) return send_later(outbox_);
  }
}

// Closes when nobody is there to read the answer.
void Connection::look_for_peer() {
  pollfd entry{stream_.fd(), POLLRDHUP, 0};
  if (::poll(&entry, 1, 0) > 0) return close();
  if (!has_input()) return wait_for(Event::readable);
  wait_for(Event::broken);
  if (!waits_for_peer_) deadline_in(connection_stream_detail::look_again);
}

}  // namespace stackgate::http
