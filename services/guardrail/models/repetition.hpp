// When a call to a model is made again. Pure.
#pragma once
#include <chrono>
#include <cstdint>
#include <optional>

namespace stackgate::guardrail {

inline constexpr std::chrono::seconds longest_wait_for_a_model{2};

/// How an attempt ended before a byte of an answer that counts.
struct ModelAttempt {
  int status = 0;  // 0: no answer
  std::optional<std::chrono::seconds> retry_after{};
  std::uint32_t made = 1;  // attempts so far
  std::uint32_t retries = 0;
  std::chrono::milliseconds left{0};  // of the deadline
  double dice = 0;                    // 0 to 1
};

/// The wait before the next attempt. Nothing: this one counts; what is refused for longer (429 with a large
/// Retry-After) is told to the client instead.
std::optional<std::chrono::milliseconds> wait_before_repetition(const ModelAttempt& attempt);

}  // namespace stackgate::guardrail
