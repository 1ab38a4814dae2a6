#include "services/kit/web/basic_auth.hpp"

#include "services/kit/base/base64.hpp"
#include "services/kit/http/text.hpp"

namespace stackgate::web {

Credentials parse_authorization(std::string_view header) {
  using Scheme = Credentials::Scheme;
  header = http::trim(header);
  if (header.empty()) return {};
  const auto space = header.find(' ');
  const std::string_view scheme = header.substr(0, space);
  const std::string_view rest =
      space == std::string_view::npos ? std::string_view() : http::trim(header.substr(space + 1));
  if (http::equal_ignoring_case(scheme, "bearer")) return {Scheme::bearer, {}, std::string(rest)};
  if (http::equal_ignoring_case(scheme, "token")) return {Scheme::token, {}, std::string(rest)};
  if (!http::equal_ignoring_case(scheme, "basic")) return {Scheme::unknown, {}, {}};
  const auto text = base64::decode(rest);
  const auto colon = text ? text->find(':') : std::string::npos;
  // RFC 7617 forbids control characters; a NUL would end the name early somewhere below.
  if (colon == std::string::npos || text->find('\0') != std::string::npos) return {Scheme::unknown, {}, {}};
  return {Scheme::basic, text->substr(0, colon), text->substr(colon + 1)};
}

std::string basic_challenge(std::string_view realm) {
  std::string out = "Basic realm=\"";
  for (const char c : realm) {
    if (c == '"' || c == '\\') out += '\\';
    out += c;
  }
  return out + "\", charset=\"UTF-8\"";
}

}  // namespace stackgate::web
