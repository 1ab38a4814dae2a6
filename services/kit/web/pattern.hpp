// A route's pattern as segments. Pure.
#pragma once
#include <cstdint>
#include <expected>
#include <string_view>
#include <vector>

#include "services/kit/base/error.hpp"

namespace stackgate::web {

struct Segment {
  enum class Kind : std::uint8_t { literal, parameter, rest };
  Kind kind = Kind::literal;
  std::string_view text;   // the literal, or the parameter's name
  std::string_view end{};  // of a parameter: what stands behind it in the segment
};

/// Views into `pattern`. The error says what is wrong, without naming the pattern.
std::expected<std::vector<Segment>, Error> parse_pattern(std::string_view pattern);

}  // namespace stackgate::web
