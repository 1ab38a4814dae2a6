// A circuit breaker: an upstream that fails again and again is left alone for a while. Pure; not thread-safe.
//
//   closed ── `failures` one after the other ─→ open ── `rest` over ─→ half open ── a probe succeeds ─→ closed
//                                                ↑──────────── a probe fails: twice the rest ───┘
#pragma once
#include <chrono>
#include <cstdint>
#include <optional>

namespace stackgate::guardrail {

struct BreakerRules {
  std::uint32_t failures = 5;  // one after the other
  std::chrono::milliseconds rest{2'000}, longest_rest{30'000};
  std::uint32_t probes = 1;  // at the same time, while half open
};

class Breaker {
 public:
  /// Since any beginning of the caller's.
  using Moment = std::chrono::nanoseconds;
  enum class State : std::uint8_t { closed, half_open, open };
  /// Of a call that may be made; to be given back with its result.
  struct Ticket {
    std::uint64_t round = 0;
    bool probe = false;
  };
  enum class Result : std::uint8_t {
    succeeded,  // the upstream answered, also with a refusal
    failed,
    unknown,  // the call was cancelled
  };

  explicit Breaker(const BreakerRules& rules = {}) : rules_(rules) {}
  /// Nothing: not now, see wait().
  std::optional<Ticket> begin(Moment now);
  /// Results of calls that began before the breaker's last change do not count.
  void ended(const Ticket& ticket, Result result, Moment now);
  State state(Moment now) const;
  /// Until a call may be tried.
  Moment wait(Moment now) const;

 private:
  void open(Moment now);

  const BreakerRules rules_;
  std::uint64_t round_ = 0;  // counts changes
  std::uint32_t failures_ = 0;
  std::uint32_t probes_ = 0;  // under way
  bool closed_ = true;
  Moment open_until_{0};
  std::chrono::nanoseconds rest_{0};  // of the last opening
};

}  // namespace stackgate::guardrail
