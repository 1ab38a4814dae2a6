// A call whose answer is read as it comes: attempts until the head that counts, then pieces. What Answer and Opening
// hold.
#pragma once
#include <condition_variable>
#include <mutex>
#include <optional>

#include "services/kit/http_client/answer.hpp"
#include "services/kit/http_client/engine.hpp"
#include "services/kit/http_client/repeat.hpp"
#include "services/kit/http_client/traced_call.hpp"

namespace stackgate::http_client {

/// Thread-safe. Kept alive by its exchange or timer.
class Flight final : public Receiver, public std::enable_shared_from_this<Flight> {
 public:
  /// `request` is the first attempt but for its headers, which are all of `headers`; `call` is its origin.
  Flight(std::shared_ptr<Engine> engine, Request call, Headers headers, ExchangeRequest request, unsigned retries,
         std::optional<TracedCall> traced, OnAnswer then);
  void start();
  /// Nothing of the caller's is called from now on, but for `then` where it waits.
  void cancel();

  const Head& answer_head() const { return head_; }
  Head take_head() { return std::move(head_); }
  std::expected<std::size_t, Error> read(std::span<char> space);
  std::expected<std::size_t, Error> read_full(std::span<char> space, std::chrono::milliseconds patience);
  void read(OnPiece then);

  void head(Head& head) override;
  Taken data(const Head& head, std::string_view bytes) override;
  void done(const Head& head, const ExchangeError* error) override;

 private:
  enum class State : std::uint8_t { sent, to_be_repeated, parked, open, ended };

  void send();
  void repeat_after(std::chrono::milliseconds wait);
  void answer(std::unique_lock<std::mutex>& lock, std::expected<void, NoAnswer> result);
  std::string take_held();
  std::size_t copy_held(std::span<char> space);

  const std::shared_ptr<Engine> engine_;
  const Request call_;
  const Headers headers_;
  const ExchangeRequest request_;
  const std::chrono::steady_clock::time_point begun_ = std::chrono::steady_clock::now();
  Persistence persistence_;

  std::mutex mutex_;
  std::condition_variable changed_;
  const std::optional<TracedCall> traced_;
  OnAnswer then_;
  State state_ = State::parked;
  ExchangeId id_ = 0;
  unsigned made_ = 0;
  std::optional<std::chrono::milliseconds> wait_{};  // before the next attempt
  std::size_t passed_over_ = 0;                      // bytes of an answer that does not count
  bool cancelled_ = false;
  bool sent_ = false;  // a byte of the request, by any attempt
  Head head_{};        // once open it is the reader's
  std::string held_{};
  std::size_t held_at_ = 0;
  std::span<char> target_{};  // of a read_full() that waits: what is not filled yet; nothing is held meanwhile
  bool paused_ = false;
  OnPiece reader_{};
  std::optional<Error> error_{};  // of the body
};

}  // namespace stackgate::http_client
