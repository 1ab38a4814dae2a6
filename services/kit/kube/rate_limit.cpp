#include "services/kit/kube/rate_limit.hpp"

#include <algorithm>

namespace stackgate::kube {

TokenBucket::TokenBucket(const RateLimit& limit)
    : limit_{limit.per_second, std::max(limit.burst, 1)}, tokens_(static_cast<double>(limit_.burst)) {}

std::optional<TokenBucket::Duration> TokenBucket::reserve(Time now, Duration at_most) {
  if (!(limit_.per_second > 0)) return Duration{0};
  using Seconds = std::chrono::duration<double>;
  if (counted_ && now > *counted_)
    tokens_ =
        std::min(tokens_ + Seconds(now - *counted_).count() * limit_.per_second, static_cast<double>(limit_.burst));
  counted_ = counted_ ? std::max(*counted_, now) : now;
  const double missing = std::max(0.0, 1.0 - tokens_);
  const Seconds wait(missing / limit_.per_second);
  if (wait > at_most) return std::nullopt;
  tokens_ -= 1.0;
  return std::chrono::ceil<Duration>(wait);
}

}  // namespace stackgate::kube
