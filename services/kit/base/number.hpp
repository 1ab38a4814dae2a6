// Texts that are one number. Pure.
#pragma once
#include <charconv>
#include <optional>
#include <string_view>
#include <system_error>

namespace stackgate {

/// Nothing unless the whole text is a number that fits: without blanks and without a plus sign.
template <class Number>
std::optional<Number> to_number(std::string_view text) {
  Number out{};
  const auto [end, fault] = std::from_chars(text.data(), text.data() + text.size(), out);
  if (fault != std::errc() || end != text.data() + text.size()) return std::nullopt;
  return out;
}

}  // namespace stackgate
