// How deep recursion goes.
#pragma once
#include <cstddef>

namespace stackgate::jinja {

/// Counts a level as long as it lives.
struct Nested {
  explicit Nested(std::size_t& count) : level(count) { ++level; }
  ~Nested() { --level; }
  Nested(const Nested&) = delete;
  Nested& operator=(const Nested&) = delete;
  std::size_t& level;
};
/// Blocks and expressions inside each other; the stack is for these.
inline constexpr std::size_t deepest_nesting = 100;

}  // namespace stackgate::jinja
