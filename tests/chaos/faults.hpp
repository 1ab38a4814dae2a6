// Which request meets which fault. Pure: the same seed, request and occurrence always give the same fault, whatever the
// order in which requests of different objects arrive.
#pragma once
#include <cstdint>
#include <string_view>

namespace stackgate::chaos {

enum class Fault : std::uint8_t {
  none,
  // The API server never hears of the request:
  conflict,      // 409 to a write
  gone,          // 410 to a watch
  too_many,      // 429 with Retry-After
  internal,      // 500
  unavailable,   // 503
  reset_before,  // the connection is reset
  // It has carried the request out:
  reset_after,  // the answer is lost
  half,         // half of the answer, then the end
  stall,        // the answer comes after 1 to 3 s
  delay,        // … 10 to 300 ms
  silence,      // it never comes: longer than any time-out
  // Of a watch, once it streams:
  cut,          // a reset in the middle of the stream
  gone_event,   // an ERROR event with code 410
  late_events,  // 1 to 3 s without news
};
std::string_view to_string(Fault fault);

struct RequestFacts {
  std::string_view method, path;  // the path without its query
  bool watch = false;
  unsigned occurrence = 0;  // of this method and path, from 0
  bool write() const { return method != "GET"; }
};

struct Dice {
  Fault fault = Fault::none;
  std::uint64_t value = 0;  // random bits for what the fault leaves open: how long, where to cut
};

/// `rate`: the share of requests that meet a fault, 0 to 1. Fault::silence is never drawn.
Dice draw(std::uint64_t seed, double rate, const RequestFacts& request);

}  // namespace stackgate::chaos
