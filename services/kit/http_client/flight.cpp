#include "services/kit/http_client/flight.hpp"

#include <algorithm>
#include <cstring>

#include "services/kit/base/inbox.hpp"

namespace stackgate::http_client {
namespace flight_detail {

constexpr std::size_t most_held = 256 * 1024;
constexpr std::size_t most_passed_over = 64 * 1024;  // so that the connection can be kept

}  // namespace flight_detail

Flight::Flight(std::shared_ptr<Engine> engine, Request call, Headers headers, ExchangeRequest request, unsigned retries,
               std::optional<TracedCall> traced, OnAnswer then)
    : engine_(std::move(engine)),
      call_(std::move(call)),
      headers_(std::move(headers)),
      request_(std::move(request)),
      persistence_{.call = call_, .url = call_.url, .retries = retries},
      traced_(std::move(traced)),
      then_(std::move(then)) {
  const Deadlines& limits = request_.deadlines;
  auto least = std::min(limits.head.count() > 0 ? limits.head : std::chrono::milliseconds::max(),
                        limits.whole.count() > 0 ? limits.whole : std::chrono::milliseconds::max());
  if (least != std::chrono::milliseconds::max()) persistence_.until = begun_ + least;
}

void Flight::start() {
  const std::scoped_lock lock(mutex_);
  send();
}

/// Under the lock.
void Flight::send() {
  using std::chrono::milliseconds;
  ExchangeRequest request = request_;
  request.more_headers = headers_;
  request.body = call_.body;
  const auto gone = std::chrono::duration_cast<milliseconds>(std::chrono::steady_clock::now() - begun_);
  for (milliseconds* limit : {&request.deadlines.head, &request.deadlines.whole})
    if (limit->count() > 0) *limit = std::max(*limit - gone, milliseconds(1));
  ++made_;
  passed_over_ = 0;
  state_ = State::sent;
  id_ = engine_->send(std::move(request), shared_from_this());
}

/// Under the lock.
void Flight::repeat_after(std::chrono::milliseconds wait) {
  state_ = State::parked;
  engine_->run_after(wait, [self = shared_from_this()] {
    const std::scoped_lock lock(self->mutex_);
    if (self->state_ == State::parked) self->send();
  });
}

void Flight::cancel() {
  OnPiece dropped;  // unlocked: the answer may end with it
  const std::scoped_lock lock(mutex_);
  cancelled_ = true;
  std::swap(dropped, reader_);
  if (state_ == State::ended) return;
  if (state_ != State::parked) return engine_->cancel(id_);
  engine_->run([self = shared_from_this()] {
    std::unique_lock own(self->mutex_);
    if (self->state_ != State::parked) return;
    self->state_ = State::ended;
    self->answer(own, std::unexpected(
                          NoAnswer{self->persistence_.failure(self->made_, "cancelled by the caller"), !self->sent_}));
  });
}

void Flight::answer(std::unique_lock<std::mutex>& lock, std::expected<void, NoAnswer> result) {
  OnAnswer then = std::exchange(then_, nullptr);
  lock.unlock();
  if (traced_) traced_->ended(result ? head_.status : 0, result ? std::string_view() : result.error().message);
  if (!then) return;
  if (result) {
    then(Answer(shared_from_this()));
  } else {
    then(std::unexpected(std::move(result.error())));
  }
}

void Flight::head(Head& head) {
  std::unique_lock lock(mutex_);
  sent_ = true;
  if (!cancelled_)
    wait_ = persistence_.wait_after(made_, {.status = head.status, .retry_after = head.header("retry-after")});
  if (wait_) {
    state_ = State::to_be_repeated;
    return;
  }
  head_ = std::move(head);
  state_ = State::open;
  answer(lock, {});
}

Taken Flight::data(const Head&, std::string_view bytes) {
  std::unique_lock lock(mutex_);
  if (cancelled_) return Taken::stop;
  if (state_ == State::to_be_repeated) {
    passed_over_ += bytes.size();
    return passed_over_ > flight_detail::most_passed_over ? Taken::stop : Taken::all;
  }
  if (reader_) {
    OnPiece reader = std::exchange(reader_, nullptr);
    lock.unlock();
    reader(std::string(bytes));
    return Taken::all;
  }
  if (!target_.empty()) {
    const std::size_t count = std::min(target_.size(), bytes.size());
    std::memcpy(target_.data(), bytes.data(), count);
    target_ = target_.subspan(count);
    bytes.remove_prefix(count);
    if (target_.empty()) changed_.notify_one();
    if (bytes.empty()) return Taken::all;
  }
  if (!held_.empty() && held_.size() - held_at_ + bytes.size() > flight_detail::most_held) {
    paused_ = true;
    return Taken::none;
  }
  held_ += bytes;
  changed_.notify_one();
  return Taken::all;
}

void Flight::done(const Head&, const ExchangeError* error) {
  std::unique_lock lock(mutex_);
  sent_ |= error == nullptr || error->sent;
  if (state_ == State::sent && error != nullptr && !cancelled_ && error->failure != Failure::unusable &&
      error->failure != Failure::cancelled)
    wait_ = persistence_.wait_after(made_, {.reached = error->failure != Failure::unreachable});
  if (state_ != State::open && wait_ && !cancelled_) return repeat_after(*std::exchange(wait_, std::nullopt));
  const bool waited_for = std::exchange(state_, State::ended) != State::open;
  const std::string why = cancelled_ ? "cancelled by the caller" : error != nullptr ? error->message : "no answer";
  if (waited_for) return answer(lock, std::unexpected(NoAnswer{persistence_.failure(made_, why), !sent_}));
  if (error != nullptr) error_ = persistence_.failure(made_, why);
  changed_.notify_all();
  OnPiece reader = std::exchange(reader_, nullptr);
  lock.unlock();
  if (!reader) return;
  if (error_) return reader(std::unexpected(*error_));
  reader(std::string());
}

/// Under the lock.
std::string Flight::take_held() {
  std::string out = std::exchange(held_, {});
  out.erase(0, std::exchange(held_at_, 0));
  if (std::exchange(paused_, false)) engine_->resume(id_);
  return out;
}

/// Under the lock. The room stays: where bytes come fast it is needed again at once.
std::size_t Flight::copy_held(std::span<char> space) {
  const std::size_t count = std::min(space.size(), held_.size() - held_at_);
  if (count > 0) std::memcpy(space.data(), held_.data() + held_at_, count);
  held_at_ += count;
  if (held_at_ < held_.size()) return count;
  held_.clear();
  held_at_ = 0;
  if (std::exchange(paused_, false)) engine_->resume(id_);
  return count;
}

std::expected<std::size_t, Error> Flight::read(std::span<char> space) {
  if (engine_->on_own_thread())
    return std::unexpected(persistence_.failure(1, "a blocking read on the client's own thread would never end"));
  const WakeBatch::Blocking blocking;
  std::unique_lock lock(mutex_);
  changed_.wait(lock, [this] { return state_ == State::ended || held_at_ < held_.size(); });
  const std::size_t count = copy_held(space);
  if (count == 0 && error_) return std::unexpected(*error_);
  return count;
}

std::expected<std::size_t, Error> Flight::read_full(std::span<char> space, std::chrono::milliseconds patience) {
  if (engine_->on_own_thread())
    return std::unexpected(persistence_.failure(1, "a blocking read on the client's own thread would never end"));
  const WakeBatch::Blocking blocking;
  std::unique_lock lock(mutex_);
  const std::size_t held = copy_held(space);
  target_ = space.subspan(held);
  const auto is_done = [this] { return target_.empty() || state_ == State::ended; };
  while (!changed_.wait_for(lock, patience, is_done) && target_.size() == space.size()) {
  }
  const std::size_t count = space.size() - std::exchange(target_, {}).size();
  if (count == 0 && error_) return std::unexpected(*error_);
  return count;
}

void Flight::read(OnPiece then) {
  const std::scoped_lock lock(mutex_);
  if (held_at_ == held_.size() && state_ != State::ended) {
    reader_ = std::move(then);
    return;
  }
  std::expected<std::string, Error> piece = take_held();
  if (piece->empty() && error_) piece = std::unexpected(*error_);
  auto call = [self = shared_from_this(), reader = std::move(then), next = std::move(piece)]() mutable {
    {
      const std::scoped_lock own(self->mutex_);
      if (self->cancelled_) return;
    }
    reader(std::move(next));
  };
  engine_->run(std::move(call));
}

Answer::Answer(std::shared_ptr<Flight> flight) : flight_(std::move(flight)) {}
Answer::Answer(Answer&&) noexcept = default;
Answer& Answer::operator=(Answer&& other) noexcept {
  std::swap(flight_, other.flight_);
  return *this;
}
Answer::~Answer() {
  if (flight_) flight_->cancel();
}

const Head& Answer::head() const { return flight_->answer_head(); }
Head Answer::take_head() { return flight_->take_head(); }
std::expected<std::size_t, Error> Answer::read(std::span<char> space) { return flight_->read(space); }
std::expected<std::size_t, Error> Answer::read_full(std::span<char> space, std::chrono::milliseconds patience) {
  return flight_->read_full(space, patience);
}
void Answer::read(OnPiece then) { flight_->read(std::move(then)); }

void Opening::cancel() {
  if (flight_) flight_->cancel();
}

}  // namespace stackgate::http_client
