#include "services/kit/schema/formats.hpp"

#include <algorithm>
#include <array>
#include <string>

#include "services/kit/grammar/characters.hpp"
#include "services/kit/grammar/duration.hpp"
#include "services/kit/grammar/host.hpp"
#include "services/kit/grammar/names.hpp"
#include "services/kit/grammar/quantity.hpp"
#include "services/kit/grammar/url.hpp"

namespace stackgate::validate::schema {
namespace {

using grammar::is_alphanumeric;
using grammar::is_digit;
using grammar::is_hex;
using grammar::is_letter;
using grammar::is_space;

// Enforced by the API server, not known here: a schema with one does not compile.
constexpr std::array<std::string_view, 14> unknown_formats{"bsonobjectid", "email", "hostname", "mac",     "uuid3",
                                                           "uuid4",        "uuid5", "isbn",     "isbn10",  "isbn13",
                                                           "creditcard",   "ssn",   "hexcolor", "rgbcolor"};

bool digits_at(std::string_view text, std::size_t at, std::size_t count) {
  return at + count <= text.size() && std::ranges::all_of(text.substr(at, count), is_digit);
}

int number_at(std::string_view text, std::size_t at, std::size_t count) {
  int out = 0;
  for (const char c : text.substr(at, count)) out = out * 10 + (c - '0');
  return out;
}

bool is_date(std::string_view text) {
  if (text.size() != 10 || !digits_at(text, 0, 4) || text[4] != '-' || !digits_at(text, 5, 2) || text[7] != '-' ||
      !digits_at(text, 8, 2))
    return false;
  const int year = number_at(text, 0, 4), month = number_at(text, 5, 2), day = number_at(text, 8, 2);
  static constexpr std::array<int, 13> days{0, 31, 28, 31, 30, 31, 30, 31, 31, 30, 31, 30, 31};
  if (month < 1 || month > 12 || day < 1) return false;
  const bool leap = (year % 4 == 0 && year % 100 != 0) || year % 400 == 0;
  return day <= days[static_cast<std::size_t>(month)] + (month == 2 && leap ? 1 : 0);
}

bool is_date_time(std::string_view text) {
  if (text.size() < 20 || !is_date(text.substr(0, 10)) || (text[10] != 'T' && text[10] != 't')) return false;
  const std::string_view time = text.substr(11);
  if (!digits_at(time, 0, 2) || time[2] != ':' || !digits_at(time, 3, 2) || time[5] != ':' || !digits_at(time, 6, 2))
    return false;
  if (number_at(time, 0, 2) > 23 || number_at(time, 3, 2) > 59 || number_at(time, 6, 2) > 59) return false;
  std::size_t at = 8;
  if (at < time.size() && time[at] == '.') {
    const std::size_t begin = ++at;
    while (at < time.size() && is_digit(time[at])) ++at;
    if (at == begin) return false;
  }
  const std::string_view zone = time.substr(at);
  if (zone == "Z" || zone == "z") return true;
  return zone.size() == 6 && (zone[0] == '+' || zone[0] == '-') && digits_at(zone, 1, 2) && zone[3] == ':' &&
         digits_at(zone, 4, 2) && number_at(zone, 1, 2) <= 23 && number_at(zone, 4, 2) <= 59;
}

// Go's form, or numbers with words: "22 ns", "1 day 2 hours".
bool is_duration(std::string_view text) {
  if (grammar::parse_go_duration(text)) return true;
  static constexpr std::array<std::string_view, 8> stems{"nano", "micro", "milli", "sec", "min", "hour", "day", "week"};
  static constexpr std::array<std::string_view, 11> words{"ns", "us", "µs", "ms", "s", "m", "h", "hr", "d", "w", "wk"};
  bool known = false;
  std::size_t at = 0;
  const auto skip_spaces = [&] {
    while (at < text.size() && is_space(text[at])) ++at;
  };
  skip_spaces();
  if (at == text.size()) return false;
  while (at < text.size()) {
    const std::size_t begin = at;
    while (at < text.size() && is_digit(text[at])) ++at;
    if (at == begin || at - begin > 18) return false;
    skip_spaces();
    const std::size_t unit_begin = at;
    while (at < text.size() && (is_letter(text[at]) || text.substr(at).starts_with("µ")))
      at += is_letter(text[at]) ? 1 : 2;
    if (at == unit_begin) return false;
    const std::string unit = grammar::to_lower(text.substr(unit_begin, at - unit_begin));
    known = known || std::ranges::find(words, unit) != words.end() ||
            std::ranges::any_of(stems, [&](std::string_view stem) { return unit.starts_with(stem); });
    skip_spaces();
  }
  return known;
}

bool is_base64(std::string_view text) {
  if (text.empty() || text.size() % 4 != 0) return false;
  std::size_t end = text.size();
  for (int padding = 0; padding < 2 && text[end - 1] == '='; ++padding) --end;
  return std::ranges::all_of(text.substr(0, end), [](char c) { return is_alphanumeric(c) || c == '+' || c == '/'; });
}

// Go's url.ParseRequestURI: an absolute path, or anything with a scheme.
bool is_request_uri(std::string_view text) {
  if (text.empty() ||
      std::ranges::any_of(text, [](char c) { return static_cast<unsigned char>(c) < 0x20 || c == 0x7F; }))
    return false;
  const auto escapes_good = [](std::string_view part) {
    for (std::size_t i = 0; i < part.size(); ++i)
      if (part[i] == '%' && (i + 2 >= part.size() || !is_hex(part[i + 1]) || !is_hex(part[i + 2]))) return false;
    return true;
  };
  if (text[0] == '/') return escapes_good(text.substr(0, text.find('?')));
  std::size_t at = 0;
  while (at < text.size() && (is_alphanumeric(text[at]) || text[at] == '+' || text[at] == '-' || text[at] == '.')) ++at;
  if (at == 0 || !is_letter(text[0]) || at >= text.size() || text[at] != ':') return false;
  const std::string_view rest = text.substr(at + 1);
  if (!rest.starts_with("//")) return !rest.starts_with('/') || escapes_good(rest);
  std::string_view authority = rest.substr(2, rest.find_first_of("/?#", 2) - 2);
  if (!escapes_good(rest.substr(2 + authority.size()).substr(0, rest.substr(2 + authority.size()).find('?'))))
    return false;
  if (const std::size_t sign = authority.rfind('@'); sign != std::string_view::npos) authority.remove_prefix(sign + 1);
  if (std::ranges::any_of(authority, [](char c) {
        return c == ' ' || c == '<' || c == '>' || c == '"' || c == '\\' || c == '^' || c == '`' || c == '{' ||
               c == '|' || c == '}';
      }))
    return false;
  std::size_t colon = authority.rfind(':');
  if (authority.starts_with('[')) {
    const std::size_t close = authority.rfind(']');
    if (close == std::string_view::npos) return false;
    if (close + 1 < authority.size() && authority[close + 1] != ':') return false;
    colon = close + 1 < authority.size() ? close + 1 : std::string_view::npos;
  }
  return colon == std::string_view::npos || std::ranges::all_of(authority.substr(colon + 1), is_digit);
}

bool is_uuid(std::string_view text) {
  std::size_t at = 0;
  static constexpr std::array<std::size_t, 5> groups{8, 4, 4, 4, 12};
  for (std::size_t group = 0; group < groups.size(); ++group) {
    if (group > 0 && at < text.size() && text[at] == '-') ++at;
    if (at + groups[group] > text.size() || !std::ranges::all_of(text.substr(at, groups[group]), is_hex)) return false;
    at += groups[group];
  }
  return at == text.size();
}

template <auto parse>
bool parses(std::string_view text) {
  return parse(text).has_value();
}
template <auto check>
bool passes(std::string_view text) {
  return !check(text);
}

struct FormatInfo {
  std::string_view word;  // without hyphens, as the API server compares them
  Format format;
  std::string_view name, example;
  bool (*holds)(std::string_view text);
};
constexpr std::array<FormatInfo, 12> string_formats{{
    {"datetime", Format::date_time, "a time (RFC 3339)", "write a time such as \"2025-01-31T08:00:00Z\"", is_date_time},
    {"date", Format::date, "a date", "write a date such as \"2025-01-31\"", is_date},
    {"duration", Format::duration, "a duration", "write a duration such as \"30s\" or \"1h30m\"", is_duration},
    {"uri", Format::uri, "a URI", "write a URI such as \"https://host/path\"", is_request_uri},
    {"byte", Format::byte, "base64 text", "write the bytes in base64, for example \"aGVsbG8=\"", is_base64},
    {"ipv4", Format::ipv4, "an IPv4 address", "write an address such as \"10.0.0.7\"", parses<grammar::parse_ipv4>},
    {"ipv6", Format::ipv6, "an IPv6 address", "write an address such as \"fd00::7\"", parses<grammar::parse_ipv6>},
    {"cidr", Format::cidr, "a network", "write a network such as \"10.0.0.0/8\"", parses<grammar::parse_cidr>},
    {"uuid", Format::uuid, "a UUID", "write a UUID such as \"3f2b8c1e-0d5a-4c69-9e3b-7a1f60d2c845\"", is_uuid},
    {"quantity", Format::quantity, "a quantity", "write a quantity such as \"500m\" or \"10Gi\"",
     parses<grammar::parse_quantity>},
    {"k8sshortname", Format::short_name, "a short name", "use lower-case letters, digits and '-'",
     passes<grammar::check_dns_label>},
    {"k8slongname", Format::long_name, "a name", "use lower-case letters, digits, '-' and '.'",
     passes<grammar::check_dns_subdomain>},
}};

const FormatInfo* info(Format format) {
  const auto* const found = std::ranges::find(string_formats, format, &FormatInfo::format);
  return found == string_formats.end() ? nullptr : found;
}

}  // namespace

std::optional<Format> format_named(std::string_view word, std::string_view type) {
  if (type == "integer") return word == "int32" ? Format::int32 : word == "int64" ? Format::int64 : Format::other;
  if (!type.empty() && type != "string") return Format::other;
  std::string plain(word);
  std::erase(plain, '-');
  for (const FormatInfo& each : string_formats)
    if (each.word == plain) return each.format;
  if (std::ranges::find(unknown_formats, plain) != unknown_formats.end()) return std::nullopt;
  return Format::other;
}

bool has_format(Format format, std::string_view text) {
  const FormatInfo* known = info(format);
  return known == nullptr || known->holds(text);
}

std::string_view format_example(Format format) {
  const FormatInfo* known = info(format);
  return known == nullptr ? std::string_view() : known->example;
}

std::string_view format_name(Format format) {
  const FormatInfo* known = info(format);
  return known == nullptr ? std::string_view() : known->name;
}

}  // namespace stackgate::validate::schema
