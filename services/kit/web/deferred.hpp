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
#include <memory>
#include <mutex>
#include <optional>
#include <string_view>

#include "services/kit/run/shares.hpp"
#include "services/kit/web/call.hpp"

namespace stackgate::web {

/// Thread-safe. Holds its place in the share until the answer has left or the client has. Letting go of it without an
/// answer answers 500; in the middle of one, cuts the connection. When the App has ended the calls do nothing.
class Deferred final : public http::AnswerWatcher {
 public:
  /// Made by Call::defer().
  Deferred(std::shared_ptr<Call> call, run::Shares::Place place) : call_(std::move(call)), place_(std::move(place)) {}

  /// The request: one thread at a time, and not once it is answered or finished.
  Call& call() { return *call_; }

  /// A Response or a Failure, instead of what follows.
  void answer(Answer answer);

  /// Begins an answer whose body follows, once; `length` unknown means chunked. The head leaves with the first write(),
  /// also an empty one.
  void start(http::Response head, std::optional<std::uint64_t> length);
  /// Never blocks. False: the client is behind, so write on when on_writable's function is called; or all has ended.
  bool write(std::string_view bytes);
  /// The body is whole.
  void finish();

  // The functions are called on the I/O thread and must not block.
  /// Called once when the client leaves or takes nothing, or the server ends, before the answer was whole; at once
  /// if that has happened already. Replaces the one before.
  void on_closed(std::move_only_function<void()> then);
  /// Called after each write() that returned false; to be set before start().
  void on_writable(std::move_only_function<void()> then);
  /// An answer without an end (SSE) should come to one: the process drains, or all has ended.
  bool stopping() const;

 private:
  friend class Call;
  enum class State : std::uint8_t { waiting, streaming, ended };

  /// Its holder has let go of it.
  void drop();
  /// With anything but Later: that is the answer, unless there is one.
  void handler_returned(Answer answer);
  void writable() override;
  void ended(bool whole) override;

  // Whoever ends the request first records it: its holder or the connection, which ends it at the latest, while the
  // App's AppState still lives. Nothing of the AppState is used afterwards.
  const std::shared_ptr<Call> call_;
  mutable std::mutex mutex_;
  State state_ = State::waiting;
  bool handler_runs_ = true, dropped_ = false;
  bool closed_ = false;  // ended before the answer was whole
  std::optional<run::Shares::Place> place_;
  std::unique_ptr<http::AsyncBodyWriter> writer_;  // null once the body is whole
  Outcome outcome_{};
  bool head_only_ = false;
  std::move_only_function<void()> on_closed_, on_writable_;
};

}  // namespace stackgate::web
