#include "services/kit/yaml/lines.hpp"

#include <algorithm>

namespace stackgate::yaml {

namespace {

constexpr std::size_t block = 1024;  // bytes between two marks

std::size_t count_characters(std::string_view text) {
  return static_cast<std::size_t>(
      std::ranges::count_if(text, [](char c) { return (static_cast<unsigned char>(c) & 0xC0U) != 0x80U; }));
}

std::string_view without_end(std::string_view line) {
  if (line.ends_with('\r')) line.remove_suffix(1);
  return line;
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
  const std::size_t end = std::min(text.find('\n', start), text.size());
  return {line, static_cast<std::uint32_t>(count_characters(text.substr(start, at - start))) + 1,
          without_end(text.substr(start, end - start)), at - start};
}

Lines::Lines(std::string_view text) : text_(text) {
  starts_.push_back(0);
  for (std::size_t at = text.find('\n'); at != std::string_view::npos; at = text.find('\n', at + 1))
    starts_.push_back(static_cast<std::uint32_t>(at + 1));
  marks_.reserve(text.size() / block + 1);
  std::size_t count = 0;
  for (std::size_t at = 0; at <= text.size(); at += block) {
    marks_.push_back(static_cast<std::uint32_t>(count));
    count += count_characters(text.substr(at, block));
  }
}

std::size_t Lines::characters_before(std::size_t offset) const {
  const std::size_t mark = offset / block;
  return marks_[mark] + count_characters(text_.substr(mark * block, offset - mark * block));
}

Place Lines::locate(std::uint32_t offset) const {
  const std::size_t at = std::min<std::size_t>(offset, text_.size());
  const auto next = std::ranges::upper_bound(starts_, static_cast<std::uint32_t>(at));
  const std::size_t start = *(next - 1);
  const std::size_t end = next == starts_.end() ? text_.size() : *next - 1;
  return {static_cast<std::uint32_t>(next - starts_.begin()),
          static_cast<std::uint32_t>(characters_before(at) - characters_before(start)) + 1,
          without_end(text_.substr(start, end - start)), at - start};
}

}  // namespace stackgate::yaml
