// The answer to a request whose handler has returned Later{}: it comes from any thread, at once or in pieces over
// minutes, and holds no thread meanwhile.
//
//   auto later = call.defer();  // takes a place of the client's share
//   if (!later) return later.error();
//   ask_upstream([later = *later](Reply reply) { later->answer(http::Response{200, "text/plain", {}, reply.text}); });
//   return Later{};
#pragma once
#include <cstdint>
#include <functional>
#include <optional>
#include <string_view>

#include "services/kit/web/call.hpp"

namespace stackgate::web {

/// Thread-safe. Holds its place in the share until the answer has left or the client has. Letting go of it without an
/// answer answers 500; in the middle of one, cuts the connection. When the App has ended the calls do nothing.
class Deferred {
 public:
  virtual ~Deferred() = default;

  /// The request: one thread at a time, and not once it is answered or finished.
  virtual Call& call() = 0;

  /// A Response or a Failure, instead of what follows.
  virtual void answer(Answer answer) = 0;

  /// Begins an answer whose body follows, once; `length` unknown means chunked. The head leaves with the first write(),
  /// also an empty one.
  virtual void start(http::Response head, std::optional<std::uint64_t> length) = 0;
  /// Never blocks. False: the client is behind, so write on when on_writable's function is called; or all has ended.
  virtual bool write(std::string_view bytes) = 0;
  /// The body is whole.
  virtual void finish() = 0;

  // The functions are called on the I/O thread and must not block.
  /// Called once when the client leaves or takes nothing, or the server ends, before the answer was whole; at once
  /// if that has happened already. Replaces the one before.
  virtual void on_closed(std::move_only_function<void()> then) = 0;
  /// Called after each write() that returned false; to be set before start().
  virtual void on_writable(std::move_only_function<void()> then) = 0;
  /// An answer without an end (SSE) should come to one: the process drains, or all has ended.
  virtual bool stopping() const = 0;
};

}  // namespace stackgate::web
