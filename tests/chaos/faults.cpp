#include "tests/chaos/faults.hpp"

#include <array>
#include <span>

namespace stackgate::chaos {
namespace {

std::uint64_t mixed(std::uint64_t x) {  // splitmix64
  x += 0x9e3779b97f4a7c15U;
  x = (x ^ (x >> 30U)) * 0xbf58476d1ce4e5b9U;
  x = (x ^ (x >> 27U)) * 0x94d049bb133111ebU;
  return x ^ (x >> 31U);
}

std::uint64_t mixed_in(std::uint64_t state, std::string_view text) {
  for (const char c : text) state = (state ^ static_cast<unsigned char>(c)) * 0x100000001b3U;
  return mixed(state);
}

constexpr std::array of_writes{Fault::conflict,    Fault::too_many,     Fault::internal,
                               Fault::unavailable, Fault::reset_before, Fault::reset_after,
                               Fault::half,        Fault::stall,        Fault::delay};
constexpr std::array of_reads{Fault::too_many,    Fault::internal, Fault::unavailable, Fault::reset_before,
                              Fault::reset_after, Fault::half,     Fault::stall,       Fault::delay};
constexpr std::array of_watches{Fault::gone,         Fault::too_many, Fault::internal,   Fault::unavailable,
                                Fault::reset_before, Fault::cut,      Fault::gone_event, Fault::late_events};

Fault pick(std::span<const Fault> among, std::uint64_t value) { return among[value % among.size()]; }

}  // namespace

std::string_view to_string(Fault fault) {
  constexpr std::array<std::string_view, 15> names{"none",  "409",          "410",         "429",       "500",
                                                   "503",   "reset before", "reset after", "half",      "stall",
                                                   "delay", "silence",      "cut",         "410 event", "late events"};
  return names[static_cast<std::size_t>(fault)];
}

Dice draw(std::uint64_t seed, double rate, const RequestFacts& request) {
  std::uint64_t state = mixed_in(mixed_in(mixed(seed), request.method), request.path);
  state = mixed(state + request.occurrence * 2U + (request.watch ? 1U : 0U));
  Dice out;
  if (static_cast<double>(state >> 11U) * 0x1.0p-53 >= rate) return out;
  state = mixed(state);
  out.fault = request.watch     ? pick(of_watches, state)
              : request.write() ? pick(of_writes, state)
                                : pick(of_reads, state);
  out.value = mixed(state);
  return out;
}

}  // namespace stackgate::chaos
