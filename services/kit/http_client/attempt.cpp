#include <algorithm>
#include <condition_variable>
#include <cstring>
#include <mutex>

#include <fmt/format.h>

#include "services/kit/base/inbox.hpp"
#include "services/kit/http_client/engine.hpp"
#include "services/kit/http_client/repeat.hpp"

namespace stackgate::http_client {
namespace attempt_detail {

using Clock = std::chrono::steady_clock;

constexpr std::size_t most_held = 512 * 1024;   // of a body that the caller takes
constexpr std::size_t part_bytes = 256 * 1024;  // read from the caller at once
constexpr std::size_t most_ahead = 512 * 1024;  // read from the caller before it is sent

/// Between two threads: the engine's calls what Receiver has, the caller's run().
class Attempt final : public Receiver, public std::enable_shared_from_this<Attempt> {
 public:
  explicit Attempt(const Request& call) : call_(call), largest_reply_(call.largest_reply) {}

  AttemptResult run(Engine& engine, ExchangeRequest request);

  Taken data(const Head& head, std::string_view bytes) override;
  std::ptrdiff_t fill(char* space, std::size_t size) override;
  bool rewind() override;
  void done(const Head& head, const ExchangeError* error) override;

 private:
  void take_part(std::unique_lock<std::mutex>& lock, Engine& engine);
  void read_part(std::unique_lock<std::mutex>& lock, Engine& engine);
  void stop(Engine& engine, std::string why) {
    if (why_stopped_.empty()) why_stopped_ = std::move(why);
    engine.cancel(id_);
  }

  const Request& call_;  // its functions on the caller's thread only
  const std::uint64_t largest_reply_;
  std::mutex mutex_;
  std::condition_variable changed_;
  ExchangeId id_ = 0;
  Response reply_;
  std::string held_{};  // for take_body
  bool took_bytes_ = false;
  std::string upload_{};  // read from the caller, from upload_at_ on still to be sent
  std::size_t upload_at_ = 0;
  std::uint64_t dropped_ = 0;  // bytes that were in front of upload_
  std::uint64_t read_ = 0;     // from the caller
  bool upload_ended_ = false;
  bool reading_waits_ = false, upload_waits_ = false;  // the engine, for us
  std::string why_stopped_{};
  bool ended_ = false;
  std::optional<ExchangeError> error_{};
};

Taken Attempt::data(const Head& head, std::string_view bytes) {
  const std::scoped_lock lock(mutex_);
  if (!why_stopped_.empty()) return Taken::stop;
  if (call_.take_body && head.status < 300) {
    if (!held_.empty() && held_.size() + bytes.size() > most_held) {
      reading_waits_ = true;
      return Taken::none;
    }
    held_ += bytes;
    changed_.notify_one();
    return Taken::all;
  }
  if (bytes.size() > largest_reply_ - std::min(largest_reply_, std::uint64_t{reply_.body.size()})) {
    why_stopped_ = fmt::format("the reply is larger than {} bytes", largest_reply_);
    return Taken::stop;
  }
  reply_.body += bytes;
  return Taken::all;
}

std::ptrdiff_t Attempt::fill(char* space, std::size_t size) {
  const std::scoped_lock lock(mutex_);
  const std::size_t count = std::min(size, upload_.size() - upload_at_);
  if (count == 0) {
    if (upload_ended_) return 0;
    upload_waits_ = true;
    changed_.notify_one();
    return fill_later;
  }
  std::memcpy(space, upload_.data() + upload_at_, count);
  upload_at_ += count;
  // Kept from the beginning on for rewind(), until it is too much.
  if (upload_at_ > (dropped_ > 0 ? part_bytes : most_ahead)) {
    dropped_ += upload_at_;
    upload_.erase(0, upload_at_);
    upload_at_ = 0;
  }
  changed_.notify_one();
  return static_cast<std::ptrdiff_t>(count);
}

bool Attempt::rewind() {
  const std::scoped_lock lock(mutex_);
  if (dropped_ > 0) return false;
  upload_at_ = 0;
  return true;
}

void Attempt::done(const Head& head, const ExchangeError* error) {
  const std::scoped_lock lock(mutex_);
  static_cast<Head&>(reply_) = head;
  if (error != nullptr) error_ = *error;
  ended_ = true;
  changed_.notify_one();
}

void Attempt::take_part(std::unique_lock<std::mutex>& lock, Engine& engine) {
  const std::string part = std::exchange(held_, {});
  took_bytes_ = true;
  if (std::exchange(reading_waits_, false)) engine.resume(id_);
  lock.unlock();
  const bool goes_on = call_.take_body(part);
  lock.lock();
  if (!goes_on) stop(engine, std::string(given_up));
}

void Attempt::read_part(std::unique_lock<std::mutex>& lock, Engine& engine) {
  lock.unlock();
  std::string part;
  std::size_t count = 0;
  part.resize(part_bytes);
  count = call_.read_body(part.data(), part.size());
  lock.lock();
  if (count > part.size()) return stop(engine, "the body to be sent could not be read");
  read_ += count;
  if (call_.body_size && (count == 0 ? read_ < *call_.body_size : read_ > *call_.body_size))
    return stop(engine, fmt::format("the body to be sent has not the announced {} bytes", *call_.body_size));
  upload_.append(part, 0, count);
  upload_ended_ = count == 0;
  if (std::exchange(upload_waits_, false)) engine.resume(id_);
}

AttemptResult Attempt::run(Engine& engine, ExchangeRequest request) {
  const WakeBatch::Blocking blocking;
  std::unique_lock lock(mutex_);
  id_ = engine.send(std::move(request), shared_from_this());
  // The engine uses this object until done(), whatever the caller's functions throw.
  struct UntilEnded {
    Attempt& attempt;
    Engine& engine;
    std::unique_lock<std::mutex>& lock;
    ~UntilEnded() {
      if (!lock.owns_lock()) lock.lock();
      if (!attempt.ended_) engine.cancel(attempt.id_);
      attempt.changed_.wait(lock, [this] { return attempt.ended_; });
    }
  };
  {
    const UntilEnded guard{*this, engine, lock};
    auto ask_at = Clock::now() + ask_each;
    while (!ended_ || (!held_.empty() && why_stopped_.empty())) {
      if (call_.give_up && Clock::now() >= ask_at && !ended_) {
        lock.unlock();
        const bool enough = call_.give_up();
        lock.lock();
        if (enough) stop(engine, std::string(given_up));
        ask_at = Clock::now() + ask_each;
      }
      const bool may_read = call_.read_body && !upload_ended_ && why_stopped_.empty() && !ended_ &&
                            upload_.size() - upload_at_ < most_ahead - part_bytes + 1;
      if (!held_.empty() && why_stopped_.empty()) {
        take_part(lock, engine);
      } else if (may_read) {
        read_part(lock, engine);
      } else if (call_.give_up) {
        changed_.wait_until(lock, ask_at);
      } else {
        changed_.wait(lock);
      }
    }
  }
  if (!why_stopped_.empty()) return {std::unexpected(why_stopped_), true, true};
  if (!error_) return {std::move(reply_), true, took_bytes_};
  return {std::unexpected(error_->message), error_->failure != Failure::unreachable,
          took_bytes_ || error_->failure == Failure::unusable || error_->failure == Failure::cancelled};
}

}  // namespace attempt_detail

AttemptResult attempt(Engine& engine, const Request& call, ExchangeRequest request) {
  if (call.read_body) {
    request.uploads = true;
    request.upload_bytes = call.body_size;
  }
  if (call.take_body) request.pieces = Pieces::large;
  return std::make_shared<attempt_detail::Attempt>(call)->run(engine, std::move(request));
}

}  // namespace stackgate::http_client
