// W3C Trace Context (https://www.w3.org/TR/trace-context/): where a request stands in a trace. Pure but for the random
// numbers of new ids, which are not secret.
#pragma once
#include <optional>
#include <string>
#include <string_view>

#include "services/kit/base/traceparent.hpp"

namespace stackgate::web {

struct TraceContext {
  std::string trace_id;     // 32 lower-case hex digits
  std::string span_id;      // 16; this process' span
  std::string parent_id{};  // 16; the caller's span, empty when the trace begins here
  bool sampled = false;
  std::string state{};  // tracestate, passed on as it came; empty when it came broken
};

using stackgate::parse_traceparent;
using stackgate::TraceParent;
/// What a traceparent says of a span, so that work that is done later goes on with its trace.
std::string to_traceparent(const TraceContext& context);
/// Whether a tracestate keeps the grammar: at most 32 members, 512 bytes, no key twice.
bool is_tracestate(std::string_view tracestate);

/// The context of a request: the caller's trace with a span of our own, or a new trace. `sampled` of a new trace is
/// `sample_new`.
TraceContext continue_trace(std::string_view traceparent, std::string_view tracestate, bool sample_new = false);

/// `digits` lower-case hex digits, not all zero. Thread-safe.
std::string random_hex(std::size_t digits);

}  // namespace stackgate::web
