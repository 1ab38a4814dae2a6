#include <algorithm>
#include <ranges>

#include <fmt/format.h>

#include "services/kit/grammar/characters.hpp"
#include "services/kit/grammar/host.hpp"
#include "services/kit/grammar/unrendered.hpp"

namespace stackgate::validate::grammar {
namespace {

constexpr std::string_view entry_forms =
    "write a host name, \".example.com\" for a domain, an IP address, or a network such as \"10.0.0.0/8\" or "
    "\"fd00::/8\"";
constexpr std::size_t most_problems = 20;

std::optional<Problem> check_optional_port(std::string_view text) {
  if (text.empty()) return std::nullopt;
  if (text[0] != ':')
    return Problem{fmt::format("has {} behind the address", name_character(text, 0)), std::string(entry_forms)};
  const auto port = parse_port(text.substr(1));
  return port ? std::nullopt : std::optional(port.error());
}

std::optional<Problem> check_entry(std::string_view entry) {
  if (entry == "*") return std::nullopt;
  if (auto unrendered = describe_unrendered(entry)) return unrendered;
  if (std::ranges::any_of(entry, [](char c) { return is_space(c) || c == ';'; }))
    return Problem{"has entries without a comma between them", "separate the entries by commas"};
  if (entry.find("://") != std::string_view::npos)
    return Problem{"is a URL", "write the host alone, without a scheme and a path"};
  if (entry.starts_with("*.")) {
    const std::string quoted = quote_short(entry.substr(1));
    return Problem{"must not contain '*': programs do not agree about it",
                   quoted.empty() ? std::string(entry_forms) : fmt::format("write {}", quoted)};
  }
  if (const std::size_t slash = entry.find('/'); slash != std::string_view::npos) {
    // "[fd00::]/8" is what people write by analogy with URLs; no program reads it.
    if (entry[0] == '[')
      return Problem{"has brackets around the address of a network",
                     "write the network without brackets, for example \"fd00::/8\""};
    const bool address =
        std::ranges::all_of(entry.substr(0, slash), [](char c) { return is_hex(c) || c == '.' || c == ':'; }) &&
        entry.substr(0, slash).find_first_of(".:") != std::string_view::npos;
    if (!address) return Problem{"has a path", "write the host alone"};
    const auto cidr = parse_cidr(entry);
    return cidr ? std::nullopt : std::optional(cidr.error());
  }
  if (entry[0] == '[') {
    const std::size_t close = entry.find(']');
    if (close == std::string_view::npos)
      return Problem{"has '[' without ']'", "write an IPv6 address as in \"[fd00::7]:443\" or \"fd00::7\""};
    if (const auto address = parse_ipv6(entry.substr(1, close - 1)); !address) return address.error();
    return check_optional_port(entry.substr(close + 1));
  }
  if (std::ranges::count(entry, ':') > 1) {
    const auto address = parse_ipv6(entry);
    return address ? std::nullopt : std::optional(address.error());
  }
  const std::size_t colon = std::min(entry.find(':'), entry.size());
  std::string_view host = entry.substr(0, colon);
  if (host.starts_with('.') && host.size() > 1) host.remove_prefix(1);
  if (auto problem = check_host(host)) return problem;
  return check_optional_port(entry.substr(colon));
}

}  // namespace

std::vector<TokenProblem> check_no_proxy(std::string_view list) {
  std::vector<TokenProblem> out;
  for (const auto each : std::views::split(list, ',')) {
    if (out.size() == most_problems) break;
    const std::string_view entry = trim(std::string_view(each));
    if (entry.empty()) continue;
    if (const std::size_t sign = entry.rfind('@'); sign != std::string_view::npos) {
      // The place begins behind it: whoever quotes the entry must not repeat a password.
      const std::string_view host = entry.substr(sign + 1);
      out.push_back({static_cast<std::size_t>(host.data() - list.data()),
                     host.size(),
                     {"has user information in front of it", "write the host alone"}});
      continue;
    }
    if (auto problem = check_entry(entry))
      out.push_back({static_cast<std::size_t>(entry.data() - list.data()), entry.size(), std::move(*problem)});
  }
  return out;
}

}  // namespace stackgate::validate::grammar
