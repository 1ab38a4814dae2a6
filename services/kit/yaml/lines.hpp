// From byte offsets to lines and columns, for many offsets of one text.
#pragma once
#include <cstdint>
#include <string_view>
#include <vector>

#include "services/kit/yaml/parse.hpp"

namespace stackgate::yaml {

/// Knows where every line begins. `text` must outlive it. Immutable, thread-safe.
class Lines {
 public:
  explicit Lines(std::string_view text);
  Place locate(std::uint32_t offset) const;

 private:
  std::string_view text_;
  std::vector<std::uint32_t> starts_;
};

}  // namespace stackgate::yaml
