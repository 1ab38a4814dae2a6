// One call of a Client: sent, sent again, waited for or cancelled. Only the client's own files include this.
#pragma once
#include <atomic>
#include <chrono>
#include <condition_variable>
#include <deque>
#include <memory>
#include <mutex>
#include <optional>
#include <string>

#include "services/kit/kube/client.hpp"
#include "services/kit/kube/rate_limit.hpp"
#include "services/kit/kube/transport.hpp"

namespace stackgate::kube {

/// The calls of one client take their turns here. Thread-safe.
class SharedBucket {
 public:
  explicit SharedBucket(const RateLimit& limit) : bucket_(limit) {}
  std::optional<TokenBucket::Duration> reserve(TokenBucket::Duration at_most) {
    const std::scoped_lock lock(mutex_);
    return bucket_.reserve(std::chrono::steady_clock::now(), at_most);
  }

 private:
  std::mutex mutex_;
  TokenBucket bucket_;
};

class Call;

/// Keeps calls from opening connections: beyond a hundred streams or so on one, curl opens the next. Watches are not
/// counted. Thread-safe.
class ConcurrencyLimit {
 public:
  /// False: it has to wait until leave() returns it.
  bool enter(const std::shared_ptr<Call>& call) {
    const std::scoped_lock lock(mutex_);
    if (inside_ < most) {
      ++inside_;
      return true;
    }
    waiting_.push_back(call);
    return false;
  }
  /// The call that has the place now, if one waits.
  std::shared_ptr<Call> leave() {
    const std::scoped_lock lock(mutex_);
    if (waiting_.empty()) {
      --inside_;
      return nullptr;
    }
    auto next = std::move(waiting_.front());
    waiting_.pop_front();
    return next;
  }

 private:
  static constexpr int most = 64;
  std::mutex mutex_;
  int inside_ = 0;
  std::deque<std::shared_ptr<Call>> waiting_;
};

/// What the calls of a client share; both may be nullptr.
struct CallLimits {
  SharedBucket* bucket = nullptr;
  ConcurrencyLimit* gate = nullptr;
};

/// What a thread waits for: one call, or several that were sent together.
struct CallLatch {
  std::mutex mutex;
  std::condition_variable condition;
  std::size_t left = 1;
  void wait() {
    std::unique_lock lock(mutex);
    condition.wait(lock, [this] { return left == 0; });
  }
};

/// Never blocks: waits are timers of the transport. Once begun it stays alive until it has ended.
class Call : public Receiver, public std::enable_shared_from_this<Call> {
 public:
  /// What is given must outlive the call.
  Call(Transport& transport, const CallLimits& limits, Request request, const CallOptions& options,
       std::uint64_t jitter_seed, std::shared_ptr<CallLatch> latch);

  void begin();
  void cancel();
  CallLatch& latch() { return *latch_; }
  /// "GET /api/v1/…", for messages.
  std::string what() const;

  // To be read when the latch has opened.
  std::optional<ApiError> error;
  int status = 0;
  std::string body;

  bool data(const HttpHead& head, std::string_view bytes) final;
  void done(const HttpHead& head, const TransportError* transport_error) final;

 protected:
  /// An attempt begins: what an earlier one received counts no longer.
  virtual void restart() { body.clear(); }
  /// Bytes of a good answer; false gives the call up.
  virtual bool take(std::string_view bytes);
  /// The good answer is whole; what is wrong with it, if anything.
  virtual std::optional<ApiError> complete() { return std::nullopt; }
  virtual bool may_be_sent_again() const { return request_.idempotent; }

 private:
  using Clock = std::chrono::steady_clock;

  void take_turn();
  void send(std::chrono::milliseconds limit);
  bool send_now();
  void leave_gate();
  void park(std::chrono::milliseconds wait, std::chrono::milliseconds limit, bool with_turn);
  std::optional<std::chrono::milliseconds> wait_before_next(const ApiError& failed);
  void finish(std::optional<ApiError> failed);

  Transport& transport_;
  const CallLimits limits_;
  const Request request_;
  const CallOptions options_;
  const std::shared_ptr<CallLatch> latch_;

  // Handed from thread to thread with the attempt.
  Backoff backoff_;
  Jitter jitter_;
  Clock::time_point begun_, send_until_;
  int attempts_ = 0;
  bool fresh_connection_;
  bool was_unauthorized_ = false;
  std::string refusal_;

  std::atomic<ExchangeId> exchange_{0};
  std::atomic<bool> parked_{false};  // a timer or the gate will send it
  std::atomic<bool> cancelled_{false};
};

}  // namespace stackgate::kube
