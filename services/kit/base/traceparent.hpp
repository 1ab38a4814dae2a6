// The header traceparent of W3C Trace Context (https://www.w3.org/TR/trace-context/), and TRACEPARENT of processes.
// Pure.
#pragma once
#include <optional>
#include <string>
#include <string_view>

namespace stackgate {

struct TraceParent {
  std::string trace_id, parent_id;  // 32 and 16 lower-case hex digits
  bool sampled = false;
};
/// Nothing when `traceparent` is malformed, all zeros, or of version ff. Later versions are read as 00.
std::optional<TraceParent> parse_traceparent(std::string_view traceparent);

}  // namespace stackgate
