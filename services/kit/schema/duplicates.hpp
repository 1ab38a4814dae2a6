// Equal items of a list in linear time, whatever the sender chose them to be: the hash is seeded once per process.
#pragma once
#include <cstdint>
#include <cstring>
#include <string_view>
#include <vector>

#include "services/kit/json/value.hpp"

namespace stackgate::validate::schema {

std::uint64_t hash_seed();

/// Equal values (json::equal) have the same hash.
std::uint64_t hash_value(const json::Value& value, std::uint64_t seed);

/// Calls report(item, first) for each item that equals an earlier one. `hash(i)` and `same(i, j)` look at positions;
/// `skip(i)` leaves one out.
template <class Skip, class Hash, class Same, class Report>
void each_duplicate(std::size_t size, Skip&& skip, Hash&& hash, Same&& same, Report&& report) {
  if (size < 2) return;
  struct Slot {
    std::uint64_t hash;
    std::uint32_t item;  // position + 1
  };
  // Kept between calls, so that a checked list costs no allocation.
  thread_local std::vector<Slot> slots;
  std::size_t capacity = 16;
  while (capacity < size * 2) capacity *= 2;
  if (slots.size() < capacity) slots.resize(capacity);
  std::memset(static_cast<void*>(slots.data()), 0, capacity * sizeof(Slot));
  for (std::size_t i = 0; i < size; ++i) {
    if (skip(i)) continue;
    const std::uint64_t own = hash(i);
    std::size_t at = own & (capacity - 1);
    for (; slots[at].item != 0; at = (at + 1) & (capacity - 1)) {
      if (slots[at].hash != own || !same(i, slots[at].item - 1)) continue;
      report(i, slots[at].item - 1);
      break;
    }
    if (slots[at].item == 0) slots[at] = {own, static_cast<std::uint32_t>(i + 1)};
  }
  // A giant list does not hold its memory for ever.
  if (capacity > 65536) std::vector<Slot>().swap(slots);
}

}  // namespace stackgate::validate::schema
