// Server-sent events (WHATWG HTML, 9.2).
#pragma once
#include <chrono>
#include <expected>
#include <memory>
#include <string>
#include <string_view>

#include "services/kit/base/error.hpp"
#include "services/kit/web/call.hpp"

namespace stackgate::web {

struct Event {
  std::string_view data;
  std::string_view name{};  // "event:"; empty: a message
  std::string_view id{};
};

/// One event as text; line breaks of the data become further "data:" lines, those of name and id are left out. Pure.
std::string format_event(const Event& event);

/// 200, text/event-stream, no-cache, unbuffered by proxies.
http::Response event_stream_head(Headers headers = {});

/// An answer of events. For pool threads; blocks while the client is behind. Without a thread: Deferred::start with the
/// head, and format_event.
class EventStream {
 public:
  /// Sends the head.
  explicit EventStream(Call& call, Headers headers = {});
  std::expected<void, Error> send(const Event& event);
  /// A comment, to keep proxies from closing a silent stream; call it every 15 s or so.
  std::expected<void, Error> keep_alive();
  bool gone() const { return writer_->gone(); }
  /// The server drains: finish() soon; the client comes back by itself.
  bool draining() const { return writer_->draining(); }
  std::expected<void, Error> finish() { return writer_->finish(); }

 private:
  std::unique_ptr<http::BodyWriter> writer_;
};

}  // namespace stackgate::web
