// Spans of work that is no request: of a Job, from its beginning to its end, with parts inside parts.
//   Work work(*telemetry, variable("TRACEPARENT")); Part run(work, "train"); { Part load(work, "load"); … } run.set(…);
// One thread's; log lines of that thread belong to the innermost part. Without an exporter of traces it costs nothing.
#pragma once
#include <functional>
#include <optional>
#include <string>
#include <string_view>

#include "services/kit/base/current_trace.hpp"
#include "services/kit/telemetry/telemetry.hpp"

namespace stackgate::telemetry {

class Work {
 public:
  /// Records nothing.
  Work() = default;
  /// `telemetry` must outlive it. `traceparent`: of whoever started the process; empty or broken: a trace begins here.
  Work(Telemetry& telemetry, std::string_view traceparent);

 private:
  friend class Part;
  std::function<void(Span)> record_{};  // empty: none is wanted
  std::string trace_id_, span_id_;      // of the innermost part, or of the caller; empty: none
};

/// Lives on the stack; those inside end before it.
class Part {
 public:
  Part(Work& work, std::string_view name, Attributes attributes = {});
  ~Part();
  Part(const Part&) = delete;
  Part& operator=(const Part&) = delete;

  void set(std::string_view key, Attribute::Value value);
  void fail(std::string_view words);

 private:
  Work& work_;
  Span span_;
  std::optional<TraceScope> scope_;
};

}  // namespace stackgate::telemetry
