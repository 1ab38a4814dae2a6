// The metadata at the head of a README.md, as cards of models and datasets have it: YAML between two lines "---". Pure.
#pragma once
#include <algorithm>
#include <optional>
#include <string_view>

namespace stackgate::datastore {

/// What is between them; `text` becomes what follows. Nothing when it does not begin with such a block.
inline std::optional<std::string_view> take_front_matter(std::string_view& text) {
  std::string_view rest = text;
  if (rest.starts_with("\xEF\xBB\xBF")) rest.remove_prefix(3);
  const auto take_line = [&rest] {
    std::string_view line = rest.substr(0, rest.find('\n'));
    rest.remove_prefix(std::min(line.size() + 1, rest.size()));
    if (line.ends_with('\r')) line.remove_suffix(1);
    return line;
  };
  if (take_line() != "---") return {};
  for (const std::string_view body = rest; !rest.empty();) {
    const std::size_t end = body.size() - rest.size();
    if (take_line() != "---") continue;
    text = rest;
    return body.substr(0, end);
  }
  return {};
}

}  // namespace stackgate::datastore
