// A stage of a run: a span of its trace, and how long it took.
#pragma once
#include <chrono>
#include <string>
#include <string_view>
#include <utility>

#include "services/evaluator/runs/native.hpp"
#include "services/kit/telemetry/work.hpp"

namespace stackgate::evaluator {

/// Lives on the stack of the run's thread; those inside end before it. `name`: data, endpoints, index, task, workflow.
class Stage {
 public:
  Stage(RunContext& context, std::string_view name, telemetry::Attributes attributes = {})
      : metrics_(context.metrics), name_(name), part_(context.work, name, std::move(attributes)) {}
  ~Stage() { metrics_.stage(name_, std::chrono::steady_clock::now() - began_); }
  Stage(const Stage&) = delete;
  Stage& operator=(const Stage&) = delete;

  void set(std::string_view key, telemetry::Attribute::Value value) { part_.set(key, std::move(value)); }
  /// The same conclusion, which the span says, too; one that was stopped is no failure.
  Conclusion failed(Conclusion conclusion) {
    if (!conclusion.stopped) part_.fail(conclusion.message);
    return conclusion;
  }

 private:
  RunMetrics& metrics_;
  const std::string name_;
  const std::chrono::steady_clock::time_point began_ = std::chrono::steady_clock::now();
  telemetry::Part part_;
};

}  // namespace stackgate::evaluator
