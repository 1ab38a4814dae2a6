// Where the work of this thread stands in a trace (https://www.w3.org/TR/trace-context/), so that log lines and calls
// to other services carry it without passing it along. Set while a request is served; each thread has its own.
#pragma once
#include <string_view>
#include <utility>

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

}  // namespace stackgate
