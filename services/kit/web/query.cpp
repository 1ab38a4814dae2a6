#include "services/kit/web/query.hpp"

#include <algorithm>
#include <array>

namespace stackgate::web {
namespace query_detail {

constexpr std::size_t most_pairs = 1'000;

constexpr int hex_value(char c) {
  if (c >= '0' && c <= '9') return c - '0';
  if (c >= 'a' && c <= 'f') return c - 'a' + 10;
  if (c >= 'A' && c <= 'F') return c - 'A' + 10;
  return -1;
}

// The byte that "%XX" at `at` stands for, or -1.
int escaped_byte(std::string_view text, std::size_t at) {
  if (at + 2 >= text.size()) return -1;
  const int high = hex_value(text[at + 1]), low = hex_value(text[at + 2]);
  return high < 0 || low < 0 ? -1 : high * 16 + low;
}

constexpr bool is_unreserved(char c) {
  return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '-' || c == '.' ||
         c == '_' || c == '~';
}

// Lenient, as browsers and every server library are: "100%" means what it says.
std::string decode_form(std::string_view text) {
  std::string out;
  out.reserve(text.size());
  for (std::size_t i = 0; i < text.size(); ++i) {
    if (const int byte = text[i] == '%' ? escaped_byte(text, i) : -1; byte >= 0) {
      out += static_cast<char>(byte);
      i += 2;
    } else {
      out += text[i] == '+' ? ' ' : text[i];
    }
  }
  return out;
}

}  // namespace query_detail

std::optional<std::string> percent_decode(std::string_view text) {
  std::string out;
  out.reserve(text.size());
  for (std::size_t i = 0; i < text.size(); ++i) {
    if (text[i] != '%') {
      if (text[i] == '\0') return {};
      out += text[i];
      continue;
    }
    const int byte = query_detail::escaped_byte(text, i);
    if (byte <= 0) return {};
    out += static_cast<char>(byte);
    i += 2;
  }
  return out;
}

std::string percent_encode(std::string_view text, std::string_view keep) {
  static constexpr std::string_view digits = "0123456789ABCDEF";
  std::string out;
  out.reserve(text.size() + text.size() / 4);
  for (const char c : text) {
    if (query_detail::is_unreserved(c) || keep.contains(c)) {
      out += c;
    } else {
      const auto byte = static_cast<unsigned char>(c);
      out += {'%', digits[byte >> 4U], digits[byte & 15U]};
    }
  }
  return out;
}

Query Query::parse(std::string_view text) {
  Query query;
  while (!text.empty() && query.pairs_.size() < query_detail::most_pairs) {
    const auto end = std::min(text.find('&'), text.size());
    const std::string_view pair = text.substr(0, end);
    text.remove_prefix(std::min(end + 1, text.size()));
    if (pair.empty()) continue;
    const auto equals = std::min(pair.find('='), pair.size());
    query.pairs_.emplace_back(query_detail::decode_form(pair.substr(0, equals)),
                              query_detail::decode_form(pair.substr(std::min(equals + 1, pair.size()))));
  }
  return query;
}

std::optional<std::string_view> Query::get(std::string_view name) const {
  const auto found = std::ranges::find(pairs_, name, &std::pair<std::string, std::string>::first);
  if (found == pairs_.end()) return {};
  return found->second;
}

std::vector<std::string_view> Query::all(std::string_view name) const {
  std::vector<std::string_view> out;
  for (const auto& [key, value] : pairs_) {
    if (key == name) out.emplace_back(value);
  }
  return out;
}

}  // namespace stackgate::web
