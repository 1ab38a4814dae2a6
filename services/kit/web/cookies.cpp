#include "services/kit/web/cookies.hpp"

#include <algorithm>
#include <array>

#include <fmt/format.h>

#include "services/kit/http/text.hpp"

namespace stackgate::web {
namespace cookies_detail {

// cookie-octet of RFC 6265, 4.1.1; '%' marks what is encoded.
bool is_octet(char c) { return c > ' ' && c <= '~' && c != '"' && c != ',' && c != ';' && c != '\\' && c != '%'; }

std::string encoded(std::string_view value) {
  std::string out;
  for (const char c : value) {
    if (is_octet(c))
      out += c;
    else
      out += fmt::format("%{:02X}", static_cast<unsigned>(static_cast<unsigned char>(c)));
  }
  return out;
}

constexpr std::array<std::string_view, 3> same_site_words{"Lax", "Strict", "None"};  // by SameSite

}  // namespace cookies_detail

std::optional<std::string_view> find_cookie(const http::Request& request, std::string_view name) {
  for (const http::Header& header : request.headers) {
    if (!http::equal_ignoring_case(header.name, "cookie")) continue;
    std::string_view rest = header.value;
    while (!rest.empty()) {
      const auto end = std::min(rest.find(';'), rest.size());
      const std::string_view pair = http::trim(rest.substr(0, end));
      rest.remove_prefix(std::min(end + 1, rest.size()));
      const auto equals = pair.find('=');
      if (equals == std::string_view::npos || http::trim(pair.substr(0, equals)) != name) continue;
      std::string_view value = http::trim(pair.substr(equals + 1));
      if (value.size() >= 2 && value.front() == '"' && value.back() == '"') value = value.substr(1, value.size() - 2);
      return value;
    }
  }
  return {};
}

std::string format_cookie(const Cookie& cookie) {
  std::string out = fmt::format("{}={}; Path={}", cookie.name, cookies_detail::encoded(cookie.value), cookie.path);
  if (cookie.max_age) out += fmt::format("; Max-Age={}", std::max<std::int64_t>(cookie.max_age->count(), 0));
  if (cookie.http_only) out += "; HttpOnly";
  if (cookie.secure || cookie.same_site == SameSite::none) out += "; Secure";  // browsers drop None without it
  return out.append("; SameSite=").append(cookies_detail::same_site_words[static_cast<std::size_t>(cookie.same_site)]);
}

}  // namespace stackgate::web
