#include <algorithm>
#include <cstddef>

#include "services/stackgate/validate/report.hpp"

namespace stackgate {

namespace {

bool is_continuation(char c) { return (static_cast<unsigned char>(c) & 0xC0U) == 0x80U; }

std::size_t quoted_length(std::string_view text) {
  for (std::size_t i = 1; i < text.size(); ++i) {
    if (text[i] == '\\' && text[0] == '"')
      ++i;
    else if (text[i] == text[0])
      return i + 1;
  }
  return text.size();
}

std::size_t plain_length(std::string_view text, bool in_flow) {
  std::size_t end = 0;  // behind the last character that is no space
  for (std::size_t i = 0; i < text.size(); ++i) {
    const bool before_space = i + 1 == text.size() || text[i + 1] == ' ';
    if (text[i] == ':' && before_space) break;
    if (text[i] == '#' && i > 0 && text[i - 1] == ' ') break;
    if (in_flow && (text[i] == ',' || text[i] == ']' || text[i] == '}')) break;
    if (text[i] != ' ' && text[i] != '\t') end = i + 1;
  }
  return end;
}

}  // namespace

std::uint32_t token_length(std::string_view line, std::size_t at) {
  at = std::min(at, line.size());
  const std::string_view text = line.substr(at);
  std::size_t length = 1;
  if (!text.empty()) {
    switch (text[0]) {
      case '"':
      case '\'':
        length = quoted_length(text);
        break;
      case '{':
      case '[':
      case '|':
      case '>':
      case '-':
        if (text[0] != '-' || text.size() == 1 || text[1] == ' ') break;
        [[fallthrough]];
      default:
        length = plain_length(text, line.substr(0, at).find_first_of("{[") != std::string_view::npos);
    }
  }
  const auto characters = std::ranges::count_if(text.substr(0, length), [](char c) { return !is_continuation(c); });
  return std::max<std::uint32_t>(1, static_cast<std::uint32_t>(characters));
}

}  // namespace stackgate
