// How long the transport's loop may sleep after something moved. When the end of a multiplexed exchange was read on
// behalf of another one, curl (seen with 7.88) neither reports it nor asks to be called again: the answer lies there
// until some timer, for up to 5 s. So the loop looks again after 1, 2, 4 … ms, and every 64 ms while requests are under
// way. Pure; not thread-safe.
#pragma once
#include <algorithm>

namespace stackgate::http_client {

class LookAgain {
 public:
  void moved() { next_ms_ = 1; }
  /// What to wait for at most, in milliseconds, where `wait_ms` would do otherwise.
  int at_most(int wait_ms, bool requests_under_way) {
    if (next_ms_ > longest_ms) return requests_under_way ? std::min(wait_ms, longest_ms) : wait_ms;
    const int now = next_ms_;
    next_ms_ *= 2;
    return std::min(wait_ms, now);
  }

 private:
  static constexpr int longest_ms = 64;
  int next_ms_ = 1;
};

}  // namespace stackgate::http_client
