#include "services/kit/base/backoff.hpp"

#include <algorithm>
#include <cmath>
#include <random>

namespace stackgate {

Jitter Jitter::random() {
  std::random_device device;
  return Jitter(std::uint64_t{device()} << 32U | device());
}

double Jitter::next() {
  state_ ^= state_ >> 12U;
  state_ ^= state_ << 25U;
  state_ ^= state_ >> 27U;
  return static_cast<double>((state_ * 0x2545F4914F6CDD1DU) >> 11U) / 9007199254740992.0;
}

double Jitter::draw() {
  thread_local Jitter mine = random();
  return mine.next();
}

std::chrono::milliseconds backoff_wait(const BackoffLimits& limits, int failures, double dice) {
  const double whole = std::min(static_cast<double>(limits.most.count()),
                                static_cast<double>(limits.first.count()) * std::pow(limits.factor, failures));
  return std::chrono::milliseconds(static_cast<std::int64_t>(whole * (0.5 + 0.5 * std::clamp(dice, 0.0, 1.0))));
}

std::chrono::milliseconds Backoff::next(Jitter& jitter) {
  const auto wait = backoff_wait(limits_, failures_, jitter.next());
  if (failures_ < 60) ++failures_;
  return wait;
}

}  // namespace stackgate
