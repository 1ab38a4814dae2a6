// Keys of one object in order, and the duplicates among them, in O(n log n) whatever the keys are: a sender cannot
// choose keys that make it quadratic, as with an unseeded hash.
#pragma once
#include <cstdint>
#include <span>
#include <string_view>
#include <vector>

#include "services/kit/json/value.hpp"

namespace stackgate::json {

/// One of 64 bits: two keys of one object that never meet on a bit are surely different, which spares the search.
inline std::uint64_t key_bit(std::string_view key) {
  if (key.empty()) return 1;
  const auto byte = [&](std::size_t i) { return static_cast<unsigned char>(key[i]); };
  return std::uint64_t{1} << ((byte(0) + 5U * byte(key.size() / 2) + 11U * byte(key.size() - 1) + key.size()) & 63U);
}

struct KeyRef {
  std::uint64_t head;   // the first eight bytes, so that most comparisons need no key
  std::uint32_t index;  // in the span
};

/// `out` becomes the members' order by key, equal keys by index.
void sort_keys(std::span<const Member> members, std::vector<KeyRef>& out);

/// The first member whose key another before it has, or nullptr. `scratch` is only for its memory.
const Member* find_duplicate(std::span<const Member> members, std::vector<KeyRef>& scratch);

}  // namespace stackgate::json
