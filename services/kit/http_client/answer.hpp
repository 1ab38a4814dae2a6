// An answer whose head is there and whose body is read as it comes.
#pragma once
#include <chrono>
#include <cstddef>
#include <expected>
#include <functional>
#include <memory>
#include <span>
#include <string>

#include "services/kit/base/error.hpp"
#include "services/kit/http_client/exchange.hpp"

namespace stackgate::http_client {

class Flight;

/// The next piece of a body; empty at its end.
using OnPiece = std::move_only_function<void(std::expected<std::string, Error> piece)>;

/// Movable. One read at a time. What is not read stays with the server: after 256 KiB the transfer stops until the
/// next read, and its deadlines with it.
class Answer {
 public:
  explicit Answer(std::shared_ptr<Flight> flight);
  Answer(Answer&&) noexcept;
  Answer& operator=(Answer&&) noexcept;
  /// Ends what is still under way. A read that waits is never answered then.
  ~Answer();

  const Head& head() const;
  /// Moves it out.
  Head take_head();
  /// Blocks until there are bytes; 0 is the end. Not on the engine's thread.
  std::expected<std::size_t, Error> read(std::span<char> space);
  /// Waits until `space` is full, the body ends, or there are some bytes and `patience` has passed: few wake-ups, and
  /// the bytes are copied once. 0 is the end; what came before an error is returned first, the error by the next call.
  std::expected<std::size_t, Error> read_full(std::span<char> space, std::chrono::milliseconds patience);
  /// `then` is called once, on the engine's thread, where it must not block.
  void read(OnPiece then);

 private:
  std::shared_ptr<Flight> flight_;
};

/// Why there is no answer.
struct NoAnswer : Error {
  /// No attempt came so far that a byte of the request went out: it may go to another server, whatever its method.
  bool nothing_sent = false;
};

using OnAnswer = std::move_only_function<void(std::expected<Answer, NoAnswer> answer)>;

/// An answer that is waited for.
class Opening {
 public:
  explicit Opening(std::shared_ptr<Flight> flight) : flight_(std::move(flight)) {}
  /// From any thread: the waiting function gets an error soon, unless it has been called.
  void cancel();

 private:
  std::shared_ptr<Flight> flight_;
};

}  // namespace stackgate::http_client
