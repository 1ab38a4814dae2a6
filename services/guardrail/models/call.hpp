// One call on its way: queue, attempts, answer or stream, end.
#pragma once
#include <chrono>
#include <cstdint>
#include <deque>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <string_view>

#include "services/guardrail/models/state.hpp"
#include "services/kit/base/current_trace.hpp"
#include "services/kit/http_client/event_stream.hpp"

namespace stackgate::guardrail {

/// What is called and how its result is counted.
struct OutgoingRequest {
  ModelEndpoint endpoint;
  std::string method{"POST"}, url, body{};
  std::string task;
  std::chrono::milliseconds deadline{0};
  bool stream = false;
};

/// A CurrentTrace that owns its texts.
struct OwnTrace {
  std::string trace_id, span_id, state;
  bool sampled = false;
  static std::optional<OwnTrace> of_this_thread();
  CurrentTrace view() const { return {.trace_id = trace_id, .span_id = span_id, .state = state, .sampled = sampled}; }
};

/// Thread-safe. Held by whatever it waits for, and by its Impl's queue.
class OutgoingCall : public std::enable_shared_from_this<OutgoingCall> {
 public:
  struct Functions {
    /// What a whole body means; the error is a sentence.
    std::move_only_function<std::expected<ModelAnswer, std::string>(std::string body)> read;
    std::move_only_function<bool(const ModelDelta&)> delta{};  // of a stream
    OnModelAnswer end;
  };
  OutgoingCall(std::shared_ptr<ModelClient::Impl> impl, OutgoingRequest request, Functions functions);

  void start();
  /// It has a place.
  void begin();
  void cancel();
  void resume();

 private:
  using Clock = std::chrono::steady_clock;
  struct Ending {
    ModelResult<ModelAnswer> answer;
    std::string_view result;  // of the metric
    Breaker::Result breaker = Breaker::Result::unknown;
  };
  /// What is to be let go of without the lock.
  struct Remains;

  void send();
  void opened(std::expected<http_client::Answer, Error> answer);
  void take(std::expected<std::string, Error> piece);
  void deliver();
  bool repeat(int status, std::optional<std::chrono::seconds> retry_after);
  void finish(Ending ending);

  // Under the lock.
  void read_on();
  std::optional<Ending> take_piece(std::string_view piece);
  bool take_event(const std::string& data);
  Ending whole();
  void clean_up(Remains& remains, Breaker::Result breaker, std::string_view result);

  std::chrono::milliseconds left() const;
  static Ending failed(ModelFailure failure, std::string_view result, Breaker::Result breaker);
  Ending broken(const std::string& why) const;
  Ending no_answer(const Error& error) const;

  const std::shared_ptr<ModelClient::Impl> impl_;
  const OutgoingRequest request_;
  const std::optional<OwnTrace> trace_;
  const std::string origin_;
  const Clock::time_point begun_ = Clock::now();
  const std::chrono::milliseconds deadline_;

  std::mutex mutex_;  // of what follows; never held while a function of the caller runs, but for `read`
  Functions functions_;
  std::string key_;
  bool ended_ = false, has_place_ = false;
  std::optional<Breaker::Ticket> ticket_{};
  std::uint32_t made_ = 0;
  std::optional<http_client::Opening> opening_{};
  std::optional<http_client::Answer> answer_{};
  std::string text_;  // of an answer that is held
  // Of a stream.
  bool is_stream_ = false;
  http_client::EventReader events_{{.line = 1U << 20U, .data = 1U << 20U}};
  ChunkReader chunks_;
  std::deque<ModelDelta> pending_;
  std::optional<Ending> stream_end_{};  // behind what is pending
  bool delivering_ = false, paused_ = false;
  std::uint64_t resumed_ = 0;
};

struct ModelCallHandle::State {
  std::mutex mutex;
  std::shared_ptr<OutgoingCall> call;
  bool cancelled = false;
};

}  // namespace stackgate::guardrail
