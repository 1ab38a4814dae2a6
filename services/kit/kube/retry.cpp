#include "services/kit/kube/retry.hpp"

#include <algorithm>

#include "services/kit/http_client/retry.hpp"

namespace stackgate::kube {

bool may_retry(const ApiError& error, bool idempotent) {
  switch (error.failure) {
    case Failure::unreachable:
      return true;
    case Failure::timed_out:
    case Failure::interrupted:
      return idempotent;
    case Failure::answered:
      break;
    default:
      return false;
  }
  // The API server refuses these before it acts.
  if (error.code == 429 || (error.code == 503 && error.retry_after.count() > 0)) return true;
  // 500 is final unless the server says otherwise: it is what a failing admission webhook or a bug answers.
  if (error.code == 500) return idempotent && error.retry_after.count() > 0;
  return http_client::may_retry({.repeatable = idempotent, .status = error.code});
}

std::optional<std::chrono::milliseconds> wait_before_retry(const ApiError& error, bool idempotent, int attempts_made,
                                                           std::chrono::milliseconds elapsed, const RetryPolicy& policy,
                                                           Backoff& backoff, Jitter& jitter) {
  if (attempts_made >= policy.attempts || !may_retry(error, idempotent)) return std::nullopt;
  std::chrono::milliseconds wait = backoff.next(jitter);
  wait = std::max<std::chrono::milliseconds>(wait, error.retry_after);
  if (elapsed + wait > policy.total) return std::nullopt;
  return wait;
}

}  // namespace stackgate::kube
