#include "services/kit/http/outbox.hpp"

#include <iterator>
#include <utility>

#include <fmt/format.h>

namespace stackgate::http {

Outbox::Put Outbox::put(std::string_view bytes) {
  const std::lock_guard lock(mutex_);
  if (is_closed_ || end_ != End::open) return {};
  if (shape_.framing == Framing::length && !shape_.swallow) {
    if (bytes.size() > left_) return put_end(End::dropped);
    left_ -= bytes.size();
  }
  begun_ = true;
  if (!shape_.swallow && !bytes.empty()) {
    if (shape_.framing == Framing::chunked) fmt::format_to(std::back_inserter(waiting_), "{:x}\r\n", bytes.size());
    waiting_ += bytes;
    if (shape_.framing == Framing::chunked) waiting_ += "\r\n";
  }
  is_writer_waiting_ = waiting_.size() + unsent_ > most_held;
  return {.wake = !std::exchange(is_loop_woken_, true), .more = !is_writer_waiting_};
}

Outbox::Put Outbox::end(End how) {
  const std::lock_guard lock(mutex_);
  if (is_closed_ || end_ != End::open) return {};
  if (how != End::finished) return put_end(End::dropped);
  if (shape_.framing == Framing::length && !shape_.swallow && left_ > 0) return put_end(End::dropped);
  begun_ = true;
  if (shape_.framing == Framing::chunked && !shape_.swallow) waiting_ += "0\r\n\r\n";
  return put_end(End::finished);
}

/// Under the lock.
Outbox::Put Outbox::put_end(End how) {
  end_ = how;
  return {.wake = !std::exchange(is_loop_woken_, true)};
}

bool Outbox::is_begun() {
  const std::lock_guard lock(mutex_);
  return begun_;
}

Outbox::End Outbox::take(std::string& out) {
  const std::lock_guard lock(mutex_);
  is_loop_woken_ = false;
  if (out.empty()) {
    out.swap(waiting_);
  } else {
    out += waiting_;
    waiting_.clear();
  }
  unsent_ = out.size();
  return end_;
}

bool Outbox::has_room_for_writer(std::size_t unsent) {
  const std::lock_guard lock(mutex_);
  unsent_ = unsent;
  if (!is_writer_waiting_ || waiting_.size() + unsent_ > most_held / 2) return false;
  is_writer_waiting_ = false;
  return true;
}

void Outbox::close() {
  const std::lock_guard lock(mutex_);
  is_closed_ = true;
  std::string().swap(waiting_);
}

}  // namespace stackgate::http
