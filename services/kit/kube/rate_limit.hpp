// A token bucket: so many calls a second, with bursts. Pure; not thread-safe.
#pragma once
#include <chrono>
#include <optional>

namespace stackgate::kube {

struct RateLimit {
  double per_second = 0;  // 0 or less: no limit
  int burst = 1;          // calls that may go at once after a pause; at least 1
};

class TokenBucket {
 public:
  using Time = std::chrono::steady_clock::time_point;
  using Duration = std::chrono::steady_clock::duration;

  explicit TokenBucket(const RateLimit& limit);

  /// How long the caller has to wait for its turn; turns are given in the order of the calls. Nothing, and no turn is
  /// taken, when that would be longer than `at_most`.
  std::optional<Duration> reserve(Time now, Duration at_most);

 private:
  RateLimit limit_;
  double tokens_;  // below 0: turns that were given and have not come
  std::optional<Time> counted_;
};

}  // namespace stackgate::kube
