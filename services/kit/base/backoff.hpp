// Waiting longer after each failure, with chance in it so that many who failed together do not come back together.
#pragma once
#include <chrono>
#include <cstdint>

namespace stackgate {

/// Small, seedable source of chance (xorshift64*). Not for secrets. Not thread-safe.
class Jitter {
 public:
  explicit Jitter(std::uint64_t seed) : state_(seed == 0 ? 0x9E3779B97F4A7C15U : seed) {}
  /// Seeded from the system's randomness.
  static Jitter random();
  /// In [0, 1).
  double next();
  /// The same from a source of the calling thread's own.
  static double draw();

 private:
  std::uint64_t state_;
};

struct BackoffLimits {
  std::chrono::milliseconds first{200};
  std::chrono::milliseconds most{30'000};
  double factor = 2.0;
};

/// The wait after `failures` earlier ones (from 0): between half of and the whole of min(most, first · factor^n), as
/// `dice` (0 to 1) falls. Pure.
std::chrono::milliseconds backoff_wait(const BackoffLimits& limits, int failures, double dice);

/// Counts the failures.
class Backoff {
 public:
  explicit Backoff(BackoffLimits limits) : limits_(limits) {}
  std::chrono::milliseconds next(Jitter& jitter);
  void reset() { failures_ = 0; }
  int failures() const { return failures_; }

 private:
  BackoffLimits limits_;
  int failures_ = 0;
};

}  // namespace stackgate
