#include "services/guardrail/models/call.hpp"

#include <algorithm>
#include <utility>

#include <fmt/format.h>

#include "services/guardrail/models/keys.hpp"
#include "services/guardrail/models/repetition.hpp"
#include "services/kit/base/ascii.hpp"
#include "services/kit/base/backoff.hpp"
#include "services/kit/http_client/retry.hpp"

namespace stackgate::guardrail {
namespace {

constexpr std::size_t largest_refusal = 64U << 10U;

bool is_event_stream(const http_client::Head& head) {
  return ascii::to_lower(head.header("content-type").value_or("")).starts_with("text/event-stream");
}

/// What says that the upstream is not well, rather than the request.
Breaker::Result health_of(int status) {
  return status >= 502 && status <= 504 ? Breaker::Result::failed : Breaker::Result::succeeded;
}

std::optional<std::chrono::seconds> retry_after_of(const http_client::Head& head) {
  const auto text = head.header("retry-after");
  if (!text) return std::nullopt;
  return http_client::parse_retry_after(*text, std::chrono::system_clock::now());
}

}  // namespace

struct OutgoingCall::Remains {
  Functions functions{};
  std::optional<http_client::Opening> opening{};
  std::optional<http_client::Answer> answer{};
};

std::optional<OwnTrace> OwnTrace::of_this_thread() {
  const CurrentTrace* const trace = current_trace();
  if (trace == nullptr) return std::nullopt;
  return OwnTrace{.trace_id = std::string(trace->trace_id),
                  .span_id = std::string(trace->span_id),
                  .state = std::string(trace->state),
                  .sampled = trace->sampled};
}

OutgoingCall::OutgoingCall(std::shared_ptr<ModelClient::Impl> impl, OutgoingRequest request, Functions functions)
    : impl_(std::move(impl)),
      request_(std::move(request)),
      trace_(OwnTrace::of_this_thread()),
      origin_(endpoint_origin(request_.url)),
      deadline_(request_.deadline.count() > 0 ? request_.deadline : impl_->options.deadline),
      functions_(std::move(functions)),
      chunks_(request_.endpoint.completion) {}

std::chrono::milliseconds OutgoingCall::left() const {
  return std::chrono::duration_cast<std::chrono::milliseconds>(begun_ + deadline_ - Clock::now());
}

OutgoingCall::Ending OutgoingCall::failed(ModelFailure failure, std::string_view result, Breaker::Result breaker) {
  return {.answer = std::unexpected(std::move(failure)), .result = result, .breaker = breaker};
}

OutgoingCall::Ending OutgoingCall::broken(const std::string& why) const {
  return failed({.status = 502,
                 .message = "the model's endpoint gave an answer that cannot be used",
                 .type = "upstream_error",
                 .cause = fmt::format("{}: {}", origin_, why)},
                "broken", Breaker::Result::failed);
}

OutgoingCall::Ending OutgoingCall::no_answer(const Error& error) const {
  if (left().count() <= 0)
    return failed({.status = 504,
                   .message = "the model's endpoint took too long",
                   .type = "upstream_timeout",
                   .cause = fmt::format("{}: no answer within {} ms", origin_, deadline_.count())},
                  "timeout", Breaker::Result::failed);
  return failed({.status = 502,
                 .message = "the model's endpoint gave no answer",
                 .type = "upstream_error",
                 .cause = error.message},
                "no_answer", Breaker::Result::failed);
}

void OutgoingCall::start() {
  const auto later = [this](Ending ending) {
    impl_->engine->run(
        [self = shared_from_this(), ending = std::move(ending)]() mutable { self->finish(std::move(ending)); });
  };
  auto key = key_of(request_.endpoint, impl_->options);
  if (!key)
    return later(failed({.status = 500,
                         .message = "this server has no key for the model's endpoint",
                         .type = "configuration_error",
                         .cause = std::move(key.error())},
                        "no_key", Breaker::Result::unknown));
  key_ = std::move(*key);
  using Admission = ModelClient::Impl::Admission;
  const Admission admission = impl_->admit(shared_from_this());
  if (admission == Admission::runs) return begin();
  if (admission == Admission::refused)
    return later(failed({.status = 503,
                         .message = "too many calls of models are under way; try again in a moment",
                         .type = "overloaded",
                         .retry_after = std::chrono::seconds(1),
                         .cause = "too many calls of models wait already"},
                        "overloaded", Breaker::Result::unknown));
  impl_->engine->run_after(deadline_, [weak = weak_from_this()] {
    const auto self = weak.lock();
    if (!self || !self->impl_->leave_queue(self.get())) return;
    self->finish(failed({.status = 503,
                         .message = "too many calls of models are under way; try again in a moment",
                         .type = "overloaded",
                         .retry_after = std::chrono::seconds(1),
                         .cause = "the deadline passed while the call waited for a place"},
                        "overloaded", Breaker::Result::unknown));
  });
}

void OutgoingCall::begin() {
  bool wanted = false;
  {
    const std::scoped_lock lock(mutex_);
    wanted = has_place_ = !ended_;
  }
  if (wanted) return send();
  impl_->leave();
}

void OutgoingCall::send() {
  std::unique_lock lock(mutex_);
  if (ended_) return;
  std::chrono::nanoseconds wait{0};
  ticket_ = impl_->pass_breaker(request_.endpoint.base_url, wait);
  if (!ticket_) {
    lock.unlock();
    return finish(
        failed({.status = 503,
                .message = "the model's endpoint has failed several times; it is asked again in a moment",
                .type = "upstream_unavailable",
                .retry_after = std::max(std::chrono::ceil<std::chrono::seconds>(wait), std::chrono::seconds(1)),
                .cause = fmt::format("{}: its circuit breaker is open", origin_)},
               "breaker_open", Breaker::Result::unknown));
  }
  ++made_;
  http_client::Request out{.method = request_.method, .url = request_.url, .body = request_.body};
  if (!key_.empty()) out.headers.emplace_back("Authorization", "Bearer " + key_);
  if (!request_.body.empty()) out.headers.emplace_back("Content-Type", "application/json");
  out.headers.emplace_back("Accept", request_.stream ? "text/event-stream, application/json" : "application/json");
  const auto limit = std::max(left(), std::chrono::milliseconds(1));
  (request_.stream ? out.head : out.whole) = limit;
  if (request_.stream) out.pieces = http_client::Pieces::small;
  std::optional<TraceScope> scope;
  if (trace_) scope.emplace(trace_->view());
  opening_ =
      impl_->client.open(std::move(out), [self = shared_from_this()](auto answer) { self->opened(std::move(answer)); });
}

bool OutgoingCall::repeat(int status, std::optional<std::chrono::seconds> retry_after) {
  const std::scoped_lock lock(mutex_);
  const auto wait = wait_before_repetition({.status = status,
                                            .retry_after = retry_after,
                                            .made = made_,
                                            .retries = impl_->options.retries,
                                            .left = left(),
                                            .dice = Jitter::draw()});
  if (!wait || ended_) return false;
  if (ticket_)
    impl_->report(request_.endpoint.base_url, *ticket_, status == 0 ? Breaker::Result::failed : health_of(status));
  ticket_.reset();
  impl_->engine->run_after(*wait, [self = shared_from_this()] { self->send(); });
  return true;
}

void OutgoingCall::opened(std::expected<http_client::Answer, Error> answer) {
  {
    const std::scoped_lock lock(mutex_);
    opening_.reset();
    if (ended_) return;
  }
  if (!answer) {
    if (!repeat(0, std::nullopt)) finish(no_answer(answer.error()));
    return;
  }
  const http_client::Head& head = answer->head();
  if (repeat(head.status, retry_after_of(head))) return;
  const std::scoped_lock lock(mutex_);
  if (ended_) return;
  is_stream_ = request_.stream && head.status < 300 && is_event_stream(head);
  answer_ = std::move(*answer);
  read_on();
}

void OutgoingCall::read_on() {
  answer_->read([self = shared_from_this()](auto piece) { self->take(std::move(piece)); });
}

void OutgoingCall::take(std::expected<std::string, Error> piece) {
  std::optional<Ending> ending;
  bool streams = false;
  {
    const std::scoped_lock lock(mutex_);
    if (ended_) return;
    if (!piece) {
      ending = left().count() <= 0 ? no_answer(piece.error()) : broken("the answer broke off");
    } else {
      ending = take_piece(*piece);
    }
    streams = request_.stream;
    if (streams && ending) stream_end_ = std::exchange(ending, std::nullopt);
    if (!ending && !stream_end_ && pending_.empty()) return read_on();
  }
  if (ending) return finish(std::move(*ending));
  if (streams) deliver();
}

std::optional<OutgoingCall::Ending> OutgoingCall::take_piece(std::string_view piece) {
  if (!is_stream_) {
    const bool refused = answer_->head().status >= 300;
    if (piece.empty() || (refused && text_.size() > largest_refusal)) return whole();
    if (text_.size() + piece.size() > largest_answer) return broken("the answer is too large");
    text_ += piece;
    return std::nullopt;
  }
  bool failed_event = false;
  if (!piece.empty())
    (void)events_.feed(piece,
                       [&](const http_client::Event& event) { return !(failed_event = !take_event(event.data)); });
  if (stream_end_) return std::nullopt;
  if (failed_event || !events_.fault().empty()) {
    if (!chunks_.error_body().empty()) {
      ModelFailure failure = read_failure(0, chunks_.error_body(), key_, origin_);
      const auto health = health_of(failure.status);
      return failed(std::move(failure), "refused", health);
    }
    return broken(failed_event ? chunks_.fault() : "the stream cannot be read: " + events_.fault());
  }
  if (!piece.empty()) return std::nullopt;
  if (!chunks_.is_whole()) return broken("the stream ended before its answer did");
  return Ending{.answer = chunks_.finish(), .result = "answered", .breaker = Breaker::Result::succeeded};
}

/// False: a failure.
bool OutgoingCall::take_event(const std::string& data) {
  if (stream_end_) return true;  // what follows the end counts for nothing
  ModelDelta delta;
  const auto kind = chunks_.take(data, delta);
  if (kind == ChunkReader::Kind::failed) return false;
  if (kind == ChunkReader::Kind::delta)
    pending_.push_back(std::move(delta));
  else
    stream_end_ = Ending{.answer = chunks_.finish(), .result = "answered", .breaker = Breaker::Result::succeeded};
  return true;
}

OutgoingCall::Ending OutgoingCall::whole() {
  const http_client::Head& head = answer_->head();
  if (head.status >= 300) {
    ModelFailure failure = read_failure(head.status, text_, key_, origin_);
    failure.retry_after = retry_after_of(head);
    return failed(std::move(failure), "refused", health_of(head.status));
  }
  auto answer = functions_.read(std::exchange(text_, {}));
  if (!answer) return broken(answer.error());
  if (request_.stream) pending_.push_back({.text = answer->text, .event = {}});
  return {.answer = std::move(*answer), .result = "answered", .breaker = Breaker::Result::succeeded};
}

/// On the engine's thread.
void OutgoingCall::deliver() {
  std::optional<TraceScope> scope;
  if (trace_) scope.emplace(trace_->view());
  std::unique_lock lock(mutex_);
  delivering_ = true;
  while (!ended_ && !paused_ && !pending_.empty()) {
    const ModelDelta delta = std::move(pending_.front());
    pending_.pop_front();
    const std::uint64_t resumed = resumed_;
    lock.unlock();
    const bool more = functions_.delta(delta);
    lock.lock();
    if (!more && resumed == resumed_) paused_ = true;
  }
  delivering_ = false;
  if (ended_) {  // cancelled meanwhile
    Functions dropped = std::move(functions_);
    lock.unlock();
    return;
  }
  if (paused_) return;
  if (!stream_end_) return read_on();
  Ending ending = std::move(*stream_end_);
  lock.unlock();
  finish(std::move(ending));
}

void OutgoingCall::resume() {
  const std::scoped_lock lock(mutex_);
  ++resumed_;
  if (!std::exchange(paused_, false) || ended_) return;
  impl_->engine->run([self = shared_from_this()] { self->deliver(); });
}

void OutgoingCall::clean_up(Remains& remains, Breaker::Result breaker, std::string_view result) {
  ended_ = true;
  if (!delivering_) remains.functions = std::move(functions_);
  remains.opening = std::exchange(opening_, std::nullopt);
  remains.answer = std::exchange(answer_, std::nullopt);
  key_.clear();
  if (ticket_) impl_->report(request_.endpoint.base_url, *ticket_, breaker);
  impl_->count(request_.endpoint.type, request_.task, result,
               std::chrono::duration<double>(Clock::now() - begun_).count());
  if (std::exchange(has_place_, false)) impl_->leave();
  impl_->forget(this);
}

void OutgoingCall::finish(Ending ending) {
  Remains remains;
  {
    const std::scoped_lock lock(mutex_);
    if (ended_) return;
    clean_up(remains, ending.breaker, ending.result);
  }
  remains.answer.reset();
  if (ending.answer) ending.answer->took = Clock::now() - begun_;
  std::optional<TraceScope> scope;
  if (trace_) scope.emplace(trace_->view());
  remains.functions.end(std::move(ending.answer));
}

void OutgoingCall::cancel() {
  Remains remains;
  {
    const std::scoped_lock lock(mutex_);
    if (ended_) return;
    (void)impl_->leave_queue(this);
    clean_up(remains, Breaker::Result::unknown, "cancelled");
  }
  if (remains.opening) remains.opening->cancel();
}

}  // namespace stackgate::guardrail
