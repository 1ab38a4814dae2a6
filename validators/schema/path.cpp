// Beside the schema checker, which is the lowest part of the library that renders paths.
#include "validators/path.hpp"

#include <algorithm>
#include <ranges>
#include <vector>

#include <fmt/format.h>

namespace stackgate::validate {
namespace {

constexpr std::size_t longest_key = 256;  // of one written in a path; longer ones are cut

bool is_plain_key(std::string_view key) {
  const auto letter = [](char c) { return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '_'; };
  return !key.empty() && key.size() <= longest_key && letter(key.front()) &&
         std::ranges::all_of(key, [&](char c) { return letter(c) || (c >= '0' && c <= '9') || c == '-'; });
}

void append_bracketed(std::string& out, std::string_view key) {
  out += '[';
  std::string_view shown = key.substr(0, longest_key);
  if (shown.size() < key.size())
    while (!shown.empty() && (static_cast<unsigned char>(key[shown.size()]) & 0xC0U) == 0x80U) shown.remove_suffix(1);
  for (const char c : shown) {
    const auto code = static_cast<unsigned char>(c);
    if (code < 0x20 || code == 0x7F)
      fmt::format_to(std::back_inserter(out), "\\u{:04x}", code);
    else
      out += c;
  }
  if (shown.size() < key.size()) out += "…";
  out += ']';
}

}  // namespace

std::string to_string(const Path* path) {
  std::vector<const Path*> links;
  for (; path != nullptr; path = path->parent) links.push_back(path);
  std::string out;
  for (const Path* link : links | std::views::reverse) {
    if (link->index >= 0) {
      fmt::format_to(std::back_inserter(out), "[{}]", link->index);
    } else if (is_plain_key(link->key)) {
      if (!out.empty()) out += '.';
      out += link->key;
    } else {
      append_bracketed(out, link->key);
    }
  }
  return out;
}

}  // namespace stackgate::validate
