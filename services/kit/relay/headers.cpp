#include "services/kit/relay/headers.hpp"

#include <algorithm>
#include <array>

#include "services/kit/http/text.hpp"

namespace stackgate::relay {

void HopByHop::add_connection(std::string_view value) {
  while (!value.empty()) {
    const auto end = std::min(value.find(','), value.size());
    if (const auto name = http::trim(value.substr(0, end)); !name.empty()) named_.emplace_back(name);
    value.remove_prefix(std::min(end + 1, value.size()));
  }
}

bool HopByHop::has(std::string_view name) const {
  static constexpr std::array<std::string_view, 13> known{
      "connection", "keep-alive", "proxy-connection", "proxy-authenticate", "proxy-authorization",
      "te",         "trailer",    "upgrade",          "transfer-encoding",  "content-length",
      "host",       "expect",     "http2-settings"};
  const auto is_name = [name](std::string_view each) { return http::equal_ignoring_case(each, name); };
  return std::ranges::any_of(known, is_name) || std::ranges::any_of(named_, is_name);
}

}  // namespace stackgate::relay
