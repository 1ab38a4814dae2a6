// From byte offsets to lines and columns, for many offsets of one text.
#pragma once
#include <cstdint>
#include <string_view>
#include <vector>

#include "services/kit/yaml/parse.hpp"

namespace stackgate::yaml {

/// Knows where every line begins, and counts characters from the nearest of many marks, so that a place in a line of
/// megabytes costs no more than another. `text` must outlive it. Immutable, thread-safe.
class Lines {
 public:
  explicit Lines(std::string_view text);
  Place locate(std::uint32_t offset) const;

 private:
  std::size_t characters_before(std::size_t offset) const;

  std::string_view text_;
  std::vector<std::uint32_t> starts_;
  std::vector<std::uint32_t> marks_;  // how many characters begin before each block
};

}  // namespace stackgate::yaml
