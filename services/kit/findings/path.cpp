#include "services/kit/findings/path.hpp"

#include <algorithm>
#include <array>

#include <fmt/format.h>

#include "services/kit/base/ascii.hpp"

namespace stackgate::validate {
namespace {

constexpr std::size_t longest_key = 256;  // of one written in a path; longer ones are cut

constexpr bool begins_plain_key(char c) { return ascii::is_letter(c) || c == '_'; }

constexpr auto plain_characters = [] {
  std::array<bool, 256> table{};
  for (unsigned code = 0; code < table.size(); ++code) {
    const char c = static_cast<char>(code);
    table[code] = begins_plain_key(c) || ascii::is_digit(c) || c == '-';
  }
  return table;
}();

bool is_plain_key(std::string_view key) {
  return !key.empty() && key.size() <= longest_key && begins_plain_key(key.front()) &&
         std::ranges::all_of(key, [](char c) { return plain_characters[static_cast<unsigned char>(c)]; });
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

/// No deeper than a document may be.
void append(std::string& out, const Path* path) {  // NOLINT(misc-no-recursion)
  if (path == nullptr) return;
  append(out, path->parent);
  if (path->index >= 0) {
    out.append("[").append(std::to_string(path->index)).append("]");
  } else if (is_plain_key(path->key)) {
    if (!out.empty()) out += '.';
    out += path->key;
  } else {
    append_bracketed(out, path->key);
  }
}

}  // namespace

std::string to_string(const Path* path) {
  std::string out;
  out.reserve(64);
  append(out, path);
  return out;
}

}  // namespace stackgate::validate
