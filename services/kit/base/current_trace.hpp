// Where the work of this thread stands in a trace (https://www.w3.org/TR/trace-context/), so that log lines and calls
// to other services carry it without passing it along. Set while a request is served; each thread has its own.
#pragma once
#include <optional>
#include <string>
#include <string_view>
#include <utility>

#include "services/kit/base/traceparent.hpp"

namespace stackgate {

/// Views into whatever made the scope.
struct CurrentTrace {
  std::string_view trace_id;  // 32 lower-case hex digits
  std::string_view span_id;   // 16
  std::string_view state{};   // tracestate
  bool sampled = false;
};

namespace current_trace_detail {
constinit inline thread_local const CurrentTrace* current = nullptr;
}

/// nullptr outside any scope.
inline const CurrentTrace* current_trace() { return current_trace_detail::current; }

/// Work that belongs to a trace, to the end of the block. Lives on the stack of its thread; scopes nest.
class TraceScope {
 public:
  explicit TraceScope(const CurrentTrace& trace)
      : trace_(trace), before_(std::exchange(current_trace_detail::current, &trace_)) {}
  ~TraceScope() { current_trace_detail::current = before_; }
  TraceScope(const TraceScope&) = delete;
  TraceScope& operator=(const TraceScope&) = delete;

 private:
  CurrentTrace trace_;
  const CurrentTrace* before_;
};

/// A trace kept for work that is done elsewhere or later; it must outlive the scopes that it enters.
class TraceCopy {
 public:
  /// Of this thread, if it has one, for other threads that do its work.
  TraceCopy() {
    if (const CurrentTrace* trace = current_trace(); trace != nullptr) {
      trace_id_ = trace->trace_id;
      span_id_ = trace->span_id;
      state_ = trace->state;
      sampled_ = trace->sampled;
    }
  }
  /// Of whoever wrote it down; what is malformed is no trace.
  explicit TraceCopy(std::string_view traceparent) {
    if (auto parent = parse_traceparent(traceparent)) {
      trace_id_ = std::move(parent->trace_id);
      span_id_ = std::move(parent->parent_id);
      sampled_ = parent->sampled;
    }
  }
  TraceCopy(const TraceCopy&) = delete;
  TraceCopy& operator=(const TraceCopy&) = delete;
  /// Into `scope`, which is empty and lives on the thread's stack. `recorded` false: passed on, but not recorded.
  void enter(std::optional<TraceScope>& scope, bool recorded = true) const {
    if (!trace_id_.empty())
      scope.emplace(
          CurrentTrace{.trace_id = trace_id_, .span_id = span_id_, .state = state_, .sampled = sampled_ && recorded});
  }

 private:
  std::string trace_id_{}, span_id_{}, state_{};
  bool sampled_ = false;
};

}  // namespace stackgate
