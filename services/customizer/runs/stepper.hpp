// One customization moved on as far as it goes now: read, decided, stored, done. Blocks; one thread.
#pragma once
#include <chrono>
#include <functional>
#include <string>
#include <string_view>

#include "services/customizer/api/adapter.hpp"
#include "services/customizer/job/next.hpp"
#include "services/customizer/records/records.hpp"
#include "services/customizer/runs/executor.hpp"
#include "services/customizer/runs/metrics.hpp"

namespace stackgate::customizer {

/// Called at each write with its name; empty in production. Tests end the process there.
using FailPoint = std::function<void(std::string_view point)>;

/// How far the adapter is in the entitystore. The error is a sentence: it cannot be asked.
using AskAdapter = std::function<std::expected<AdapterState, Error>(const OutputModel&)>;

struct StepOptions {
  Limits limits{};
  AskAdapter ask_adapter{};
  FailPoint fail{};
};

/// When to look at it again.
struct NextLook {
  enum class Kind : std::uint8_t {
    at,       // at a time of the database's clock; 0: when something changes
    soon,     // something is under way that nobody reports
    again,    // a call failed, or somebody else has changed it
    no_more,  // nothing will ever be done about it
  };
  Kind kind = Kind::at;
  Seconds time = 0;
};

class Stepper {
 public:
  /// All must outlive it.
  Stepper(Records& records, Executor& executor, RunMetrics& metrics, StepOptions options)
      : records_(records), executor_(executor), metrics_(metrics), options_(std::move(options)) {}

  /// `work` as it was read, `seen` of the same moment; it is looked at again as often as it moves on. It holds what is
  /// stored afterwards.
  NextLook step(Work& work, std::expected<Seen, Error> seen, Seconds now);

  /// Its record shows that, until it can be looked at.
  void cannot_begin(const Work& work, std::string_view why);

 private:
  Observed observe(const Work& work, const Seen& seen, Seconds now);
  void show_why(const Work& work, Stage stage, std::string_view why);
  std::expected<void, Error> act(const Work& work, const Action& action, const Seen& seen);
  void note(std::string_view point) const {
    if (options_.fail) options_.fail(point);
  }

  Records& records_;
  Executor& executor_;
  RunMetrics& metrics_;
  const StepOptions options_;
};

}  // namespace stackgate::customizer
