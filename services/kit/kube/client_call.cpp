#include "services/kit/kube/client_call.hpp"

#include <algorithm>
#include <utility>

#include <fmt/format.h>

namespace stackgate::kube {
namespace {

constexpr std::size_t most_error_body = 64 * 1024;
constexpr std::size_t most_body = 64 * 1024 * 1024;

}  // namespace

Call::Call(Transport& transport, const CallLimits& limits, Request request, const CallOptions& options,
           std::uint64_t jitter_seed, std::shared_ptr<CallLatch> latch)
    : transport_(transport),
      limits_(options.rate_limited ? limits : CallLimits{}),
      request_(std::move(request)),
      options_(options),
      latch_(std::move(latch)),
      backoff_(options.retry.backoff),
      jitter_(jitter_seed),
      fresh_connection_(options.fresh_connection) {}

std::string Call::what() const { return request_.method + " " + request_.path.substr(0, request_.path.find('?')); }

void Call::begin() {
  begun_ = Clock::now();
  take_turn();
}

void Call::take_turn() {
  auto turn = TokenBucket::Duration{0};
  if (limits_.bucket != nullptr) {
    const auto given = limits_.bucket->reserve(options_.timeout);
    if (!given)
      return finish(ApiError{Failure::limited,
                             0,
                             "",
                             fmt::format("{}: not sent: the client's own rate limit leaves no room within {} ms",
                                         what(), options_.timeout.count()),
                             {}});
    turn = *given;
  }
  if (turn.count() == 0) return send(options_.timeout);
  const auto wait = std::chrono::ceil<std::chrono::milliseconds>(turn);
  park(wait, std::max(options_.timeout - wait, std::chrono::milliseconds(1)), true);
}

/// Goes on after `wait`, unless it is cancelled meanwhile.
void Call::park(std::chrono::milliseconds wait, std::chrono::milliseconds limit, bool with_turn) {
  parked_ = true;
  transport_.run_after(wait, [self = shared_from_this(), limit, with_turn] {
    if (!self->parked_.exchange(false)) return;
    with_turn ? self->send(limit) : self->take_turn();
  });
}

void Call::send(std::chrono::milliseconds limit) {
  send_until_ = Clock::now() + limit;
  parked_ = true;
  if (limits_.gate != nullptr && !limits_.gate->enter(shared_from_this())) return;
  if (!send_now()) leave_gate();
}

/// False when it was not sent, since it has ended meanwhile.
bool Call::send_now() {
  if (!parked_.exchange(false)) return false;
  const auto limit = std::chrono::duration_cast<std::chrono::milliseconds>(send_until_ - Clock::now());
  if (limit.count() <= 0) {
    finish(ApiError{Failure::limited, 0, "", what() + ": not sent: too many calls are under way already", {}});
    return false;
  }
  ++attempts_;
  restart();
  refusal_.clear();
  Request each = request_;
  each.timeout = limit;
  each.connect_timeout = std::min(each.connect_timeout, limit);
  each.fresh_connection = fresh_connection_;
  exchange_ = transport_.send(std::move(each), shared_from_this());
  return true;
}

void Call::leave_gate() {
  if (limits_.gate == nullptr) return;
  for (auto next = limits_.gate->leave(); next != nullptr; next = limits_.gate->leave())
    if (next->send_now()) return;
}

void Call::cancel() {
  cancelled_ = true;  // no further attempt
  transport_.run([self = shared_from_this()] {
    if (self->parked_.exchange(false))
      self->finish(ApiError{Failure::cancelled, 0, "", self->what() + ": cancelled", {}});
    else if (self->exchange_ != 0)
      self->transport_.cancel(self->exchange_);
  });
}

bool Call::take(std::string_view bytes) {
  if (body.size() + bytes.size() > most_body) return false;
  body.append(bytes);
  return true;
}

bool Call::data(const HttpHead& head, std::string_view bytes) {
  if (head.status < 300) return take(bytes);
  if (refusal_.size() < most_error_body) refusal_.append(bytes);
  return true;
}

void Call::done(const HttpHead& head, const TransportError* transport_error) {
  leave_gate();
  status = head.status;
  std::optional<ApiError> failed;
  if (transport_error != nullptr)
    failed = error_from_transport(what(), *transport_error);
  else if (head.status >= 300)
    failed = error_from_answer(what(), head.status, refusal_, head.retry_after);
  else
    failed = complete();
  if (failed) {
    if (const auto wait = wait_before_next(*failed)) {
      fresh_connection_ = options_.fresh_connection || failed->failure == Failure::timed_out;
      return wait->count() == 0 ? take_turn() : park(*wait, options_.timeout, false);
    }
  }
  finish(std::move(failed));
}

std::optional<std::chrono::milliseconds> Call::wait_before_next(const ApiError& failed) {
  if (cancelled_) return std::nullopt;
  // A token may have been rotated since it was read; the transport has dropped it. Once is enough.
  if (failed.code == 401 && !std::exchange(was_unauthorized_, true)) return std::chrono::milliseconds(0);
  const auto elapsed = std::chrono::duration_cast<std::chrono::milliseconds>(Clock::now() - begun_);
  return wait_before_retry(failed, may_be_sent_again(), attempts_, elapsed, options_.retry, backoff_, jitter_);
}

void Call::finish(std::optional<ApiError> failed) {
  const auto latch = latch_;
  const std::scoped_lock lock(latch->mutex);
  error = std::move(failed);
  if (--latch->left == 0) latch->condition.notify_all();
}

}  // namespace stackgate::kube
