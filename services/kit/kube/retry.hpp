// Which failed calls are tried again, and when. Pure.
#pragma once
#include <chrono>
#include <optional>

#include "services/kit/base/backoff.hpp"
#include "services/kit/kube/api_error.hpp"

namespace stackgate::kube {

struct RetryPolicy {
  int attempts = 4;                         // all in all; 1 means no retry
  std::chrono::milliseconds total{30'000};  // no attempt starts later than this after the first
  BackoffLimits backoff{std::chrono::milliseconds(100), std::chrono::milliseconds(5'000), 2.0};
};

/// Whether carrying the call out once more cannot do harm: `idempotent` calls (GET, DELETE, server-side apply) after
/// any passing failure, others only when the server cannot have acted on them (unreachable, 429, 503 with Retry-After).
bool may_retry(const ApiError& error, bool idempotent);

/// How long to wait before the next attempt, or nothing when it was the last. A Retry-After of the server is honoured
/// unless it reaches beyond the total.
std::optional<std::chrono::milliseconds> wait_before_retry(const ApiError& error, bool idempotent, int attempts_made,
                                                           std::chrono::milliseconds elapsed, const RetryPolicy& policy,
                                                           Backoff& backoff, Jitter& jitter);

}  // namespace stackgate::kube
