// Keys of one object in order, and the duplicates among them, in O(n log n) whatever the keys are: a sender cannot
// choose keys that make it quadratic, as with an unseeded hash.
#pragma once
#include <cstdint>
#include <span>
#include <string_view>
#include <vector>

#include "services/kit/json/value.hpp"

namespace stackgate::json {

struct KeyRef {
  std::uint64_t head;   // the first eight bytes, so that most comparisons need no key
  std::uint32_t index;  // in the span
};

/// `out` becomes the members' order by key, equal keys by index.
void sort_keys(std::span<const Member> members, std::vector<KeyRef>& out);

/// The first member whose key another before it has, or nullptr. `scratch` is only for its memory.
const Member* find_duplicate(std::span<const Member> members, std::vector<KeyRef>& scratch);

}  // namespace stackgate::json
