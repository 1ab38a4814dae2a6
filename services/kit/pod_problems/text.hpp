// Texts from elsewhere, held to a length.
// Pure and thread-safe.
#pragma once
#include <algorithm>
#include <string>
#include <string_view>

namespace stackgate::pods {

/// At most `limit` bytes of it, cut between two characters, with "…" where something is missing.
inline std::string shortened(std::string_view text, std::size_t limit) {
  constexpr std::string_view ellipsis = "…";
  if (text.size() <= limit) return std::string(text);
  std::size_t end = limit - std::min(limit, ellipsis.size());
  while (end > 0 && (static_cast<unsigned char>(text[end]) & 0xC0U) == 0x80U) --end;
  return std::string(text.substr(0, end)) + std::string(ellipsis);
}

}  // namespace stackgate::pods
