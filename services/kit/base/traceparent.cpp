#include "services/kit/base/traceparent.hpp"

#include <algorithm>

#include "services/kit/base/ascii.hpp"

namespace stackgate {
namespace traceparent_detail {

bool is_hex(std::string_view text, std::size_t digits) {
  return text.size() == digits &&
         std::ranges::all_of(text, [](char c) { return ascii::is_hex(c) && !ascii::is_upper(c); });
}

bool is_id(std::string_view text, std::size_t digits) {
  return is_hex(text, digits) && text.find_first_not_of('0') != std::string_view::npos;
}

}  // namespace traceparent_detail

std::optional<TraceParent> parse_traceparent(std::string_view text) {
  using traceparent_detail::is_hex;
  using traceparent_detail::is_id;
  const std::size_t first = text.find_first_not_of(" \t");
  if (first == std::string_view::npos) return {};
  text = text.substr(first, text.find_last_not_of(" \t") + 1 - first);
  if (text.size() < 55 || text[2] != '-' || text[35] != '-' || text[52] != '-') return {};
  const std::string_view version = text.substr(0, 2), trace = text.substr(3, 32), parent = text.substr(36, 16);
  const std::string_view flags = text.substr(53, 2);
  if (!is_hex(version, 2) || version == "ff" || !is_id(trace, 32) || !is_id(parent, 16) || !is_hex(flags, 2)) return {};
  if (text.size() > 55 && (version == "00" || text[55] != '-')) return {};
  return TraceParent{std::string(trace), std::string(parent), (ascii::hex_value(flags[1]) & 1) != 0};
}

}  // namespace stackgate
