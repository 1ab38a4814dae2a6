#include "services/kit/grammar/url.hpp"

#include <algorithm>
#include <string>

#include <fmt/format.h>

#include "services/kit/base/try.hpp"
#include "services/kit/grammar/characters.hpp"
#include "services/kit/grammar/host.hpp"
#include "services/kit/grammar/unrendered.hpp"

namespace stackgate::validate::grammar {
namespace {

std::unexpected<Problem> no_url(std::string problem, std::string fix) {
  return std::unexpected(Problem{std::move(problem), std::move(fix)});
}

constexpr std::string_view url_example = "write a URL such as \"http://host:8000/path\"";

bool is_unreserved(char c) { return is_alphanumeric(c) || c == '-' || c == '.' || c == '_' || c == '~'; }
bool is_sub_delimiter(char c) { return std::string_view("!$&'()*+,;=").find(c) != std::string_view::npos; }

// The first byte that is neither in the RFC's pchar set nor in `more`, nor a good %XX.
std::size_t first_foreign(std::string_view part, std::string_view more) {
  for (std::size_t i = 0; i < part.size(); ++i) {
    const char c = part[i];
    if (c == '%') {
      if (i + 2 >= part.size() || !is_hex(part[i + 1]) || !is_hex(part[i + 2])) return i;
      i += 2;
    } else if (!is_unreserved(c) && !is_sub_delimiter(c) && more.find(c) == std::string_view::npos) {
      return i;
    }
  }
  return std::string_view::npos;
}

std::optional<Problem> check_part(std::string_view part, std::string_view more, std::string_view name) {
  const std::size_t at = first_foreign(part, more);
  if (at == std::string_view::npos) return std::nullopt;
  if (auto template_left = describe_unrendered(part)) return template_left;
  if (name == "host")  // RFC 3986 allows percent-encoding there, but no name of a host holds it
    return Problem{fmt::format("has {} in its host", name_character(part, at)),
                   "write the host with letters, digits, '-' and '.' only"};
  if (part[at] == '%')
    return Problem{fmt::format("has '%' in its {} without two hexadecimal digits behind it", name),
                   "write \"%25\" for a percent sign"};
  const auto code = static_cast<unsigned char>(part[at]);
  std::string fix = code < 0x80 ? fmt::format("write \"%{:02X}\" for it, or leave it out", code)
                                : "write it percent-encoded, or leave it out";
  return Problem{fmt::format("has {} in its {}", name_character(part, at), name), fix};
}

std::unexpected<Problem> no_scheme(std::string_view text) {
  const std::string_view inner = trim(text);
  const bool could_be =
      inner.find('@') == std::string_view::npos && parse_url("http://" + std::string(inner)).has_value();
  const std::string quoted = quote_short("http://" + std::string(inner.substr(0, 100)));
  return no_url("has no scheme", could_be && !quoted.empty() ? fmt::format("write {} or the same with https", quoted)
                                                             : std::string(url_example));
}

}  // namespace

std::expected<Url, Problem> parse_url(std::string_view text) {
  if (text.empty()) return no_url("must be a URL, but is empty", std::string(url_example));
  if (is_space(text.front()) || is_space(text.back()))
    return no_url("must not have spaces around the URL", "write the URL without them");
  std::size_t at = 0;
  while (at < text.size() && (is_alphanumeric(text[at]) || text[at] == '+' || text[at] == '-' || text[at] == '.')) ++at;
  if (at == 0 || !is_letter(text[0]) || !text.substr(at).starts_with("://")) {
    if (const std::size_t colon = text.find(':'); colon == at && at > 0 && text.substr(colon + 1).starts_with("/"))
      return no_url("has one '/' behind the scheme", "write \"://\" behind the scheme");
    if (text.substr(at).starts_with("//"))
      return no_url("has no ':' behind the scheme", "write \"://\" behind the scheme");
    return no_scheme(text);
  }
  Url out;
  out.scheme = text.substr(0, at);
  std::string_view rest = text.substr(at + 3);
  if (const std::size_t hash = rest.find('#'); hash != std::string_view::npos) {
    out.fragment = rest.substr(hash + 1);
    rest = rest.substr(0, hash);
  }
  if (const std::size_t question = rest.find('?'); question != std::string_view::npos) {
    out.query = rest.substr(question + 1);
    rest = rest.substr(0, question);
  }
  std::string_view authority = rest.substr(0, std::min(rest.find('/'), rest.size()));
  out.path = rest.substr(authority.size());
  if (const std::size_t sign = authority.rfind('@'); sign != std::string_view::npos) {
    out.has_user_info = true;
    out.user_info = authority.substr(0, sign);
    authority = authority.substr(sign + 1);
    if (first_foreign(out.user_info, ":") != std::string_view::npos)
      return no_url("has user information with a character that must be percent-encoded",
                    "leave the user information out, and put credentials into a Secret");
  }
  std::string_view port;
  bool has_port = false;
  if (authority.starts_with('[')) {
    const std::size_t close = authority.find(']');
    if (close == std::string_view::npos)
      return no_url("has '[' without ']'", "write an IPv6 address as in \"http://[fd00::7]:8000\"");
    out.host = authority.substr(1, close - 1);
    out.v6 = true;
    TRY(parse_ipv6(out.host));
    const std::string_view behind = authority.substr(close + 1);
    if (!behind.empty() && behind[0] != ':')
      return no_url(fmt::format("has {} behind ']'", name_character(behind, 0)), "write ':' and the port, or '/'");
    has_port = !behind.empty();
    if (has_port) port = behind.substr(1);
  } else {
    if (std::ranges::count(authority, ':') > 1)
      return parse_ipv6(authority)
                 ? no_url("has an IPv6 address without brackets", fmt::format("write \"[{}]\" for the host", authority))
                 : no_url("has more than one ':' in its host and port", "write \"host:port\" behind \"://\"");
    const std::size_t colon = authority.find(':');
    out.host = authority.substr(0, std::min(colon, authority.size()));
    has_port = colon != std::string_view::npos;
    if (has_port) port = authority.substr(colon + 1);
    if (auto problem = check_part(out.host, "", "host")) return std::unexpected(*problem);
  }
  if (out.host.empty()) return no_url("has no host", std::string(url_example));
  if (has_port && !port.empty()) {  // "host:" is good by the RFC and means the scheme's own port
    out.port = TRY(parse_port(port));
  }
  if (auto problem = check_part(out.path, ":@/", "path")) return std::unexpected(*problem);
  if (auto problem = check_part(out.query, ":@/?", "query")) return std::unexpected(*problem);
  if (auto problem = check_part(out.fragment, ":@/?", "fragment")) return std::unexpected(*problem);
  return out;
}

std::expected<Url, Problem> parse_http_url(std::string_view text) {
  auto url = parse_url(text);
  if (!url) return url;
  if (const std::string scheme = to_lower(url->scheme); scheme != "http" && scheme != "https") {
    const std::string quoted = quote_short(url->scheme.substr(0, 40));
    return no_url(fmt::format("has the scheme {}", quoted), "write http:// or https://");
  }
  if (url->has_user_info)
    return no_url("must not contain user information",
                  "leave out what stands in front of '@', and put credentials into a Secret");
  if (!url->v6)
    if (auto problem = check_host(url->host)) return std::unexpected(*problem);
  return url;
}

}  // namespace stackgate::validate::grammar
