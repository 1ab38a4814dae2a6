// Mail addresses, links, hosts and IP addresses.
#include <algorithm>
#include <array>
#include <string>

#include "services/guardrail/detect/scan.hpp"

namespace stackgate::guardrail {
namespace {

constexpr std::size_t longest_local_part = 64, longest_host = 253;

// Top-level domains by which a host without a scheme is known; those that are endings of files' names too are not here.
constexpr std::string_view top_level[] = {
    "ai",  "app", "at",   "au",   "be",   "biz", "br",      "ca",  "ch", "cloud", "cn", "co",     "com", "cz",
    "de",  "dev", "dk",   "edu",  "es",   "eu",  "example", "fi",  "fr", "gov",   "ie", "il",     "in",  "info",
    "int", "io",  "it",   "jp",   "kr",   "mil", "mx",      "net", "nl", "no",    "nz", "online", "org", "pt",
    "ru",  "se",  "shop", "site", "tech", "tr",  "tv",      "ua",  "uk", "us",    "xyz"};
static_assert(std::ranges::is_sorted(top_level));

bool is_local_byte(char c) { return is_word_byte(c) || std::string_view(".%+-'").contains(c); }
bool is_label_byte(char c) { return ascii::is_alphanumeric(c) || c == '-' || static_cast<signed char>(c) < 0; }

/// The end of the labels that begin at `at`: no full stop or hyphen at their end.
std::size_t labels_end(const Scan& scan, std::size_t at) {
  std::size_t end = at;
  while (end - at < longest_host &&
         (is_label_byte(scan.at(end)) || (scan.at(end) == '.' && is_label_byte(scan.at(end + 1)))))
    ++end;
  while (end > at && !is_word_byte(scan.at(end - 1))) --end;
  while (end < scan.text().size() && (scan.at(end) & '\xC0') == '\x80') ++end;  // the bound cut a character
  return end;
}

std::string_view last_label(std::string_view host) { return host.substr(host.rfind('.') + 1); }

bool is_url_byte(char c) {
  return static_cast<unsigned char>(c) > ' ' && c != '\x7F' && !std::string_view("<>\"`{}|\\^").contains(c);
}

/// The end of a link's rest; punctuation that ends the sentence is none of it.
std::size_t url_end(const Scan& scan, std::size_t at) {
  std::size_t end = at;
  while (end < scan.text().size() && is_url_byte(scan.at(end))) ++end;
  while (end > at && std::string_view(".,;:!?'()[]*").contains(scan.at(end - 1))) --end;
  return end;
}

}  // namespace

std::size_t scan_mail(Scan& scan, std::size_t at) {
  std::size_t begin = at;
  while (begin > 0 && at - begin < longest_local_part && is_local_byte(scan.at(begin - 1))) --begin;
  while (begin < at && (scan.at(begin) & '\xC0') == '\x80') ++begin;  // the bound cut a character
  while (begin < at && !is_word_byte(scan.at(begin))) ++begin;
  const std::size_t end = labels_end(scan, at + 1);
  if (begin == at || end == at + 1 || scan.at(at - 1) == '.') return at + 1;
  const std::string_view host = scan.part(at + 1, end), top = last_label(host);
  if (top.size() == host.size() || top.size() < 2 || host.contains("..")) return at + 1;
  if (!std::ranges::all_of(top, [](char c) { return !ascii::is_digit(c) && c != '-'; }) && !top.starts_with("xn--"))
    return at + 1;
  scan.add(begin, end, Entity::email_address, 1.0);
  return end;
}

std::size_t scan_url(Scan& scan, std::size_t at) {
  std::size_t begin = at;
  while (begin > 0 && at - begin < 6 && ascii::is_letter(scan.at(begin - 1))) --begin;
  constexpr std::array<std::string_view, 6> schemes{"http", "https", "ftp", "ftps", "ws", "wss"};
  const std::string_view scheme = scan.part(begin, at);
  if (is_word_byte(scan.at(begin - 1)) ||
      std::ranges::none_of(schemes, [&](auto known) { return ascii::equal_ignoring_case(scheme, known); }))
    return at + 3;
  const std::size_t end = url_end(scan, at + 3);
  if (end == at + 3) return end;
  scan.add(begin, end, Entity::url, 0.6);
  return end;
}

std::size_t scan_host(Scan& scan, std::size_t at, std::size_t floor) {
  std::size_t begin = at;
  while (begin > floor && at - begin < longest_host && is_label_byte(scan.at(begin - 1))) --begin;
  while (begin < at && !ascii::is_alphanumeric(scan.at(begin))) ++begin;
  const std::size_t end = labels_end(scan, at + 1);
  const std::string top = ascii::to_lower(last_label(scan.part(at + 1, end)));
  if (begin == at || scan.at(begin - 1) == '@' || !std::ranges::binary_search(top_level, std::string_view(top)))
    return std::max(end, at + 1);
  std::size_t whole = end;
  if (scan.at(whole) == ':' && scan.digit_at(whole + 1))
    for (++whole; scan.digit_at(whole);) ++whole;
  if (scan.at(whole) == '/' || scan.at(whole) == '?') whole = std::max(whole, url_end(scan, whole));
  if (scan.at(whole) == '@') return end;  // the local part of a mail address
  scan.add(begin, whole, Entity::url, 0.5);
  return whole;
}

std::size_t ip4_end(const Scan& scan, std::size_t at) {
  std::size_t end = at;
  for (int part = 0; part < 4; ++part) {
    if (part > 0 && scan.at(end++) != '.') return at;
    unsigned value = 0;
    const std::size_t first = end;
    while (scan.digit_at(end) && end - first < 4) value = value * 10 + static_cast<unsigned>(scan.at(end++) - '0');
    if (end == first || end - first > 3 || value > 255) return at;
  }
  const bool goes_on = is_word_byte(scan.at(end)) || (scan.at(end) == '.' && scan.digit_at(end + 1));
  return goes_on ? at : end;
}

std::size_t scan_ip6(Scan& scan, std::size_t at) {
  if (is_word_byte(scan.at(at - 1)) || scan.at(at - 1) == ':') return at;
  std::size_t end = at;
  int groups = 0;
  bool gap = false, has_digit = false;
  while (groups < 8) {
    if (scan.at(end) == ':' && scan.at(end + 1) == ':') {
      if (gap) return at;
      gap = true;
      end += 2;
      if (!ascii::is_hex(scan.at(end))) break;
    } else if (groups > 0) {
      if (scan.at(end) != ':' || !ascii::is_hex(scan.at(end + 1))) break;
      ++end;
    }
    const std::size_t first = end;
    if (const std::size_t ip4 = groups > 0 || gap ? ip4_end(scan, end) : end; ip4 != end) {
      end = ip4;
      groups += 2;
      has_digit = true;
      break;
    }
    while (ascii::is_hex(scan.at(end)) && end - first < 4) has_digit |= scan.digit_at(end++);
    if (end == first) return at;
    ++groups;
  }
  const bool complete = gap ? groups <= 7 && groups > 0 && (has_digit || groups > 2) : groups == 8;
  if (!complete || is_word_byte(scan.at(end)) || (scan.at(end) == ':' && is_word_byte(scan.at(end + 1)))) return at;
  scan.add(at, end, Entity::ip_address, 0.6);
  return end;
}

}  // namespace stackgate::guardrail
