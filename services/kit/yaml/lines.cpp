#include "services/kit/yaml/lines.hpp"

#include <algorithm>
#include <cstring>

namespace stackgate::yaml {

namespace {

std::size_t end_of_line(std::string_view text, std::size_t start) {
  const std::size_t newline = text.find('\n', start);
  return newline == std::string_view::npos ? text.size() : newline;
}

Place place_in_line(std::string_view text, std::uint32_t line, std::size_t start, std::size_t offset) {
  const std::string_view before = text.substr(start, offset - start);
  const auto characters =
      std::ranges::count_if(before, [](char c) { return (static_cast<unsigned char>(c) & 0xC0U) != 0x80U; });
  std::string_view whole = text.substr(start, end_of_line(text, start) - start);
  if (whole.ends_with('\r')) whole.remove_suffix(1);
  return {line, static_cast<std::uint32_t>(characters) + 1, whole};
}

}  // namespace

Place locate(std::string_view text, std::uint32_t offset) {
  const std::size_t at = std::min<std::size_t>(offset, text.size());
  std::uint32_t line = 1;
  std::size_t start = 0;
  while (true) {
    const std::size_t newline = text.find('\n', start);
    if (newline == std::string_view::npos || newline >= at) break;
    start = newline + 1;
    ++line;
  }
  return place_in_line(text, line, start, at);
}

Lines::Lines(std::string_view text) : text_(text) {
  starts_.push_back(0);
  for (std::size_t at = text.find('\n'); at != std::string_view::npos; at = text.find('\n', at + 1))
    starts_.push_back(static_cast<std::uint32_t>(at + 1));
}

Place Lines::locate(std::uint32_t offset) const {
  const std::size_t at = std::min<std::size_t>(offset, text_.size());
  const auto next = std::ranges::upper_bound(starts_, static_cast<std::uint32_t>(at));
  return place_in_line(text_, static_cast<std::uint32_t>(next - starts_.begin()), *(next - 1), at);
}

}  // namespace stackgate::yaml
