// How long a text may be. Pure.
#pragma once
#include <cstddef>
#include <optional>
#include <string_view>

namespace stackgate::guardrail {

struct LengthLimits {
  std::optional<std::size_t> bytes{}, characters{}, words{}, lines{};
};

struct LengthExcess {
  std::string_view unit;  // "bytes", "characters", "words", "lines"
  std::size_t count = 0, limit = 0;
};

/// The first limit, in the order above, that `text` is beyond. Characters are Unicode's code points, words what stands
/// between blanks; a text that ends with a line's end has no further line.
std::optional<LengthExcess> length_excess(std::string_view text, const LengthLimits& limits);

}  // namespace stackgate::guardrail
