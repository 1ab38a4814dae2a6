#include "services/guardrail/models/repetition.hpp"

#include "services/kit/http_client/retry.hpp"

namespace stackgate::guardrail {

std::optional<std::chrono::milliseconds> wait_before_repetition(const ModelAttempt& attempt) {
  const http_client::Attempt how{.repeatable = true, .reached = attempt.status != 0, .status = attempt.status};
  if (attempt.made > attempt.retries || !http_client::may_retry(how)) return std::nullopt;
  if (attempt.retry_after && *attempt.retry_after > longest_wait_for_a_model) return std::nullopt;
  const auto wait = http_client::wait_before(attempt.made, attempt.retry_after, attempt.dice);
  if (!wait || *wait >= attempt.left) return std::nullopt;
  return wait;
}

}  // namespace stackgate::guardrail
