// The lines of a text.
#pragma once
#include <string_view>
#include <vector>

namespace stackgate::guardrail {

/// Without their ends; as many as there are line ends, and one.
inline std::vector<std::string_view> lines_of(std::string_view text) {
  std::vector<std::string_view> out;
  for (;;) {
    const std::size_t end = text.find('\n');
    out.push_back(text.substr(0, end));
    if (end == std::string_view::npos) return out;
    text.remove_prefix(end + 1);
  }
}

}  // namespace stackgate::guardrail
