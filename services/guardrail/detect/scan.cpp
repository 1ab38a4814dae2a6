#include "services/guardrail/detect/scan.hpp"

#include <algorithm>
#include <array>

namespace stackgate::guardrail {
namespace {

enum class Class : std::uint8_t { other, letter, digit, at_sign, colon, full_stop };

constexpr std::array<Class, 256> classes = [] {
  std::array<Class, 256> out{};
  for (std::size_t i = 0; i < out.size(); ++i) {
    const char c = static_cast<char>(static_cast<unsigned char>(i));
    out[i] = ascii::is_digit(c) ? Class::digit
             : is_word_byte(c)  ? Class::letter
             : c == '@'         ? Class::at_sign
             : c == ':'         ? Class::colon
             : c == '.'         ? Class::full_stop
                                : Class::other;
  }
  return out;
}();

struct Word {
  std::size_t end;
  bool has_digit = false, is_number = true;
};

Word word_at(std::string_view text, std::size_t at) {
  Word word{at};
  while (word.end < text.size() && is_word_byte(text[word.end])) {
    const bool digit = ascii::is_digit(text[word.end++]);
    word.has_digit |= digit;
    word.is_number &= digit;
  }
  return word;
}

}  // namespace

bool Scan::capital_at(std::size_t i) const {
  const char c = at(i);
  if (ascii::is_upper(c)) return true;
  const auto next = static_cast<unsigned char>(at(i + 1));
  return c == '\xC3' && next >= 0x80 && next <= 0x9E && next != 0x97;  // Latin-1's capitals
}

void scan(std::string_view text, const Wanted& wanted, std::vector<Candidate>& out) {
  Scan scan(text, wanted, out);
  const bool any_names = scan.wants(Entity::person) || scan.wants(Entity::location) || scan.wants(Entity::date_time);
  const bool any_hosts = scan.wants(Entity::url), any_mails = scan.wants(Entity::email_address);
  const bool any_ip = scan.wants(Entity::ip_address);
  std::size_t host_floor = 0;
  for (std::size_t i = 0; i < text.size();) {
    switch (classes[static_cast<unsigned char>(text[i])]) {
      case Class::other:
        ++i;
        break;
      case Class::letter:
      case Class::digit: {
        const Word word = word_at(text, i);
        const std::size_t begin = i;
        i = word.end;
        if (any_ip && scan.at(word.end) == ':' && word.end - begin <= 4) i = std::max(i, scan_ip6(scan, begin));
        if (i != word.end) break;
        if (word.is_number) {
          i = scan_number(scan, begin, word.end);
        } else if (word.has_digit) {
          i = scan_mixed_word(scan, begin, word.end);
        } else if (any_names && scan.capital_at(begin)) {
          i = scan_name(scan, begin, word.end);
        }
        break;
      }
      case Class::at_sign:
        i = any_mails ? scan_mail(scan, i) : i + 1;
        break;
      case Class::colon:
        if (any_hosts && text.substr(i).starts_with("://")) {
          i = scan_url(scan, i);
          host_floor = i;
        } else {
          const std::size_t end = any_ip && scan.at(i + 1) == ':' ? scan_ip6(scan, i) : i;
          i = std::max(end, i + 1);
        }
        break;
      case Class::full_stop:
        if (any_hosts && ascii::is_letter(scan.at(i + 1)) && is_word_byte(scan.at(i - 1))) {
          i = scan_host(scan, i, host_floor);
          host_floor = i;
        } else {
          ++i;
        }
        break;
    }
  }
}

}  // namespace stackgate::guardrail
