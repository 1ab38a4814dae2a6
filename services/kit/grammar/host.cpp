#include "services/kit/grammar/host.hpp"

#include <algorithm>
#include <ranges>
#include <string>

#include <fmt/format.h>

#include "services/kit/base/try.hpp"
#include "services/kit/grammar/characters.hpp"

namespace stackgate::validate::grammar {
namespace {

std::unexpected<Problem> refuse_host(std::string problem, std::string fix) {
  return std::unexpected(Problem{std::move(problem), std::move(fix)});
}

constexpr std::string_view host_example = "write a host name such as \"minio.storage.svc\" or an IP address";

// Digits and dots only, and so meant to be an IPv4 address.
bool looks_like_ipv4(std::string_view text) {
  return !text.empty() && std::ranges::all_of(text, [](char c) { return is_digit(c) || c == '.'; }) &&
         std::ranges::any_of(text, is_digit);
}

std::optional<Problem> check_domain_name(std::string_view text) {
  const std::string_view name = text.ends_with('.') ? text.substr(0, text.size() - 1) : text;
  if (name.empty()) return Problem{"has no host", std::string(host_example)};
  if (name.size() > 253)
    return Problem{fmt::format("has a host name of {} characters", name.size()), "write one of at most 253 characters"};
  for (const auto each : std::views::split(name, '.')) {
    const std::string_view part(each);
    if (part.empty()) return Problem{"has a host name with an empty part between dots", std::string(host_example)};
    for (std::size_t i = 0; i < part.size(); ++i) {
      if (is_alphanumeric(part[i]) || part[i] == '-') continue;
      std::string fix(host_example);
      if (part[i] == '_') {
        std::string dashed(name);
        std::ranges::replace(dashed, '_', '-');
        if (!check_domain_name(dashed)) fix = "write '-' in place of '_'";
      }
      return Problem{fmt::format("has a host name with {}", name_character(part, i)), fix};
    }
    if (part.front() == '-' || part.back() == '-')
      return Problem{"has a host name with a part that begins or ends with '-'", std::string(host_example)};
    if (part.size() > 63)
      return Problem{"has a host name with a part of more than 63 characters", "write a shorter name"};
  }
  return std::nullopt;
}

}  // namespace

std::expected<Ipv4, Problem> parse_ipv4(std::string_view text) {
  Ipv4 out{};
  const std::string example = "write four numbers from 0 to 255 with dots between them, for example \"10.0.0.7\"";
  std::size_t at = 0;
  for (std::size_t octet = 0; octet < 4; ++octet) {
    if (octet > 0) {
      if (at >= text.size() || text[at] != '.')
        return refuse_host(fmt::format("is no IPv4 address: it has {} of four numbers", octet), example);
      ++at;
    }
    const std::size_t begin = at;
    unsigned value = 0;
    while (at < text.size() && is_digit(text[at]))
      value = std::min(value * 10 + static_cast<unsigned>(text[at++] - '0'), 100'000U);
    const std::size_t digits = at - begin;
    if (digits == 0)
      return refuse_host(fmt::format("is no IPv4 address: {} stands where a number belongs", name_character(text, at)),
                         example);
    if (value > 255)
      return refuse_host(digits < 9
                             ? fmt::format("is no IPv4 address: {} is larger than 255", text.substr(begin, digits))
                             : "is no IPv4 address: a number is larger than 255",
                         example);
    if (digits > 1 && text[begin] == '0')
      return refuse_host("is no IPv4 address: a number begins with a zero",
                         fmt::format("write {} without leading zeros", value));
    out[octet] = static_cast<std::uint8_t>(value);
  }
  if (at < text.size())
    return refuse_host(fmt::format("is no IPv4 address: {} stands behind it", place_character(text, at)), example);
  return out;
}

std::expected<Ipv6, Problem> parse_ipv6(std::string_view text) {
  const std::string example = "write an IPv6 address such as \"fd00::7\"";
  Ipv6 out{};
  std::size_t filled = 0;          // bytes so far
  std::optional<std::size_t> gap;  // where "::" stands, in bytes
  std::size_t at = 0;
  if (text.starts_with("::")) {
    gap = 0;
    at = 2;
  }
  while (at < text.size() && filled < out.size()) {
    std::size_t end = at;
    unsigned value = 0;
    while (end < text.size() && is_hex(text[end]) && end - at < 5) {
      const char c = to_lower(text[end++]);
      value = value * 16 + static_cast<unsigned>(is_digit(c) ? c - '0' : c - 'a' + 10);
    }
    if (end == at)
      return refuse_host(fmt::format("is no IPv6 address: {} stands where a group belongs", place_character(text, at)),
                         example);
    if (end < text.size() && text[end] == '.') {
      const auto v4 = parse_ipv4(text.substr(at));
      if (!v4 || filled + 4 > out.size())
        return refuse_host("is no IPv6 address: it does not end with a good IPv4 address", example);
      std::ranges::copy(*v4, out.begin() + static_cast<std::ptrdiff_t>(filled));
      filled += 4;
      at = text.size();
      break;
    }
    if (end - at > 4) return refuse_host("is no IPv6 address: a group has more than four digits", example);
    out[filled++] = static_cast<std::uint8_t>(value >> 8U);
    out[filled++] = static_cast<std::uint8_t>(value & 0xFFU);
    at = end;
    if (at == text.size()) break;
    if (text[at] != ':')
      return refuse_host(fmt::format("is no IPv6 address: it contains {}", place_character(text, at)), example);
    if (text.substr(at).starts_with("::")) {
      if (gap) return refuse_host("is no IPv6 address: it has \"::\" twice", example);
      gap = filled;
      at += 2;
      continue;
    }
    ++at;
    if (at == text.size()) return refuse_host("is no IPv6 address: it ends with ':'", example);
  }
  if (at < text.size()) return refuse_host("is no IPv6 address: it has more than eight groups", example);
  if (!gap && filled < out.size()) return refuse_host("is no IPv6 address: it has fewer than eight groups", example);
  if (gap && filled == out.size()) return refuse_host("is no IPv6 address: it has \"::\" beside eight groups", example);
  if (gap) {
    const auto first = out.begin() + static_cast<std::ptrdiff_t>(*gap);
    const auto last = out.begin() + static_cast<std::ptrdiff_t>(filled);
    std::move_backward(first, last, out.end());
    std::fill(first, out.end() - (last - first), std::uint8_t{0});
  }
  return out;
}

std::expected<Cidr, Problem> parse_cidr(std::string_view text) {
  const std::size_t slash = text.find('/');
  if (slash == std::string_view::npos)
    return refuse_host("is no network: it has no prefix length", "write for example \"10.0.0.0/8\" or \"fd00::/8\"");
  const std::string_view address = text.substr(0, slash);
  const std::string_view digits = text.substr(slash + 1);
  Cidr out;
  out.v6 = address.find(':') != std::string_view::npos;
  if (out.v6) {
    TRY(parse_ipv6(address));
  } else if (auto parsed = parse_ipv4(address); !parsed) {
    return std::unexpected(parsed.error());
  }
  const unsigned longest = out.v6 ? 128 : 32;
  const std::string range = fmt::format("write a prefix length between 0 and {}", longest);
  if (digits.empty() || !std::ranges::all_of(digits, is_digit))
    return refuse_host("has a prefix length that is no number", range);
  if (digits.size() > 3) return refuse_host(fmt::format("has a prefix length above {}", longest), range);
  for (const char c : digits) out.prefix = out.prefix * 10 + static_cast<unsigned>(c - '0');
  if (out.prefix > longest)
    return refuse_host(fmt::format("has the prefix length {}, which is above {}", out.prefix, longest), range);
  return out;
}

std::optional<Problem> check_host(std::string_view text) {
  if (text.starts_with('[')) {
    if (!text.ends_with(']') || text.size() < 2)
      return Problem{"has '[' without ']'", "write an IPv6 address as in \"[fd00::7]\""};
    const auto parsed = parse_ipv6(text.substr(1, text.size() - 2));
    return parsed ? std::nullopt : std::optional(parsed.error());
  }
  if (looks_like_ipv4(text)) {
    const auto parsed = parse_ipv4(text);
    return parsed ? std::nullopt : std::optional(parsed.error());
  }
  if (std::ranges::count(text, ':') > 1 && parse_ipv6(text))
    return Problem{"has an IPv6 address without brackets", fmt::format("write \"[{}]\"", text)};
  return check_domain_name(text);
}

std::expected<std::uint16_t, Problem> parse_port(std::string_view text) {
  const std::string range = "write a port between 1 and 65535";
  if (text.empty()) return refuse_host("has no port behind ':'", range);
  std::uint32_t value = 0;
  for (std::size_t i = 0; i < text.size(); ++i) {
    if (!is_digit(text[i])) return refuse_host(fmt::format("has {} in its port", name_character(text, i)), range);
    value = std::min(value * 10 + static_cast<std::uint32_t>(text[i] - '0'), 1'000'000U);
  }
  if (value == 0 || value > 65535)
    return refuse_host(text.size() < 9 ? fmt::format("has the port {}, which is out of range", text)
                                       : "has a port that is out of range",
                       range);
  return static_cast<std::uint16_t>(value);
}

std::expected<HostPort, Problem> parse_host_port(std::string_view text) {
  if (text.empty())
    return refuse_host("must be host:port, but is empty", "write host:port, for example \"minio.storage:9000\"");
  if (const std::size_t scheme = text.find("://"); scheme != std::string_view::npos) {
    const std::string_view rest = text.substr(scheme + 3);
    const std::string_view authority = rest.substr(0, std::min(rest.find_first_of("/?#"), rest.size()));
    const bool plain = authority.find('@') == std::string_view::npos && parse_host_port(authority).has_value();
    return refuse_host("must be host:port, but is a URL",
                       plain && !quote_short(authority).empty()
                           ? fmt::format("write {}", quote_short(authority))
                           : "write host:port without a scheme, for example \"minio.storage:9000\"");
  }
  if (text.find('/') != std::string_view::npos)
    return refuse_host("must be host:port, but has a path",
                       "write host:port alone, for example \"minio.storage:9000\"");
  if (text.find('@') != std::string_view::npos)
    return refuse_host("must not contain user information",
                       "write host:port alone, and put the credentials into a Secret");
  HostPort out;
  std::size_t colon = text.rfind(':');
  if (text.starts_with('[')) {
    const std::size_t close = text.find(']');
    if (close == std::string_view::npos)
      return refuse_host("has '[' without ']'", "write an IPv6 address as in \"[fd00::7]:9000\"");
    if (close + 1 < text.size() && text[close + 1] != ':')
      return refuse_host(fmt::format("has {} behind ']'", name_character(text, close + 1)),
                         "write ':' and the port behind ']'");
    colon = close + 1 < text.size() ? close + 1 : std::string_view::npos;
    out.v6 = true;
  } else if (std::ranges::count(text, ':') > 1) {
    if (parse_ipv6(text))
      return refuse_host("has an IPv6 address without brackets",
                         fmt::format("write the address in brackets and the port behind it: \"[{}]:9000\"", text));
    return refuse_host("has more than one ':'", "write host:port, for example \"minio.storage:9000\"");
  }
  if (colon == std::string_view::npos) {
    const bool good_host = !check_host(text) && !quote_short(text).empty();
    return refuse_host("has no port", good_host
                                          ? fmt::format("write the port behind the host, for example \"{}:9000\"", text)
                                          : "write host:port, for example \"minio.storage:9000\"");
  }
  const std::string_view host = text.substr(0, colon);
  if (auto problem = check_host(host)) return std::unexpected(*problem);
  const auto port = TRY(parse_port(text.substr(colon + 1)));
  out.host = out.v6 ? host.substr(1, host.size() - 2) : host;
  out.port = port;
  return out;
}

}  // namespace stackgate::validate::grammar
