// A part of a text replaced wherever it stands.
#pragma once
#include <string>
#include <string_view>

namespace stackgate {

/// From the left, without looking again at what was put in; an empty `from` stands nowhere. Linear time.
inline std::string replace_all(std::string_view text, std::string_view from, std::string_view to) {
  std::string out;
  std::size_t at = from.empty() ? std::string_view::npos : text.find(from);
  for (; at != std::string_view::npos; at = text.find(from)) {
    out.append(text.substr(0, at)).append(to);
    text.remove_prefix(at + from.size());
  }
  return out.append(text);
}

}  // namespace stackgate
