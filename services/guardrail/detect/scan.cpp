#include "services/guardrail/detect/scan.hpp"

#include <algorithm>
#include <array>
#include <bit>
#include <utility>
#if defined(__SSE2__)
#include <emmintrin.h>
#endif

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

constexpr unsigned in_word = 1, in_number = 2;
constexpr std::array<std::uint8_t, 256> marks = [] {
  std::array<std::uint8_t, 256> out{};
  for (std::size_t i = 0; i < out.size(); ++i)
    out[i] = static_cast<std::uint8_t>((classes[i] == Class::letter ? in_word : 0U) |
                                       (classes[i] == Class::digit ? in_word | in_number : 0U));
  return out;
}();

/// The first byte in [at, size) at which something may be found where neither names nor IP addresses are wanted: a
/// digit, '@',
/// ':' or '.'; or '/', which lies between them. 16 at a time.
std::size_t skip_to_mark(std::string_view text, std::size_t at) {
#if defined(__SSE2__)
  const __m128i first = _mm_set1_epi8('.'), span = _mm_set1_epi8(':' - '.'), at_sign = _mm_set1_epi8('@');
  for (; text.size() - at >= 16; at += 16) {
    const __m128i bytes = _mm_loadu_si128(reinterpret_cast<const __m128i*>(text.data() + at));
    const __m128i behind = _mm_sub_epi8(bytes, first);
    const __m128i found =
        _mm_or_si128(_mm_cmpeq_epi8(_mm_min_epu8(behind, span), behind), _mm_cmpeq_epi8(bytes, at_sign));
    if (const auto bits = static_cast<unsigned>(_mm_movemask_epi8(found)); bits != 0)
      return at + static_cast<std::size_t>(std::countr_zero(bits));
  }
#endif
  while (at < text.size() && text[at] != '@' && (text[at] < '.' || text[at] > ':')) ++at;
  return at;
}

Word word_at(std::string_view text, std::size_t at) {
  unsigned any = 0, all = in_number, mark = 0;
  for (; at < text.size() && (mark = marks[static_cast<unsigned char>(text[at])]) != 0; ++at) {
    any |= mark;
    all &= mark;
  }
  return {at, (any & in_number) != 0, all != 0};
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
  const bool skips = !any_names && !any_ip;
  for (std::size_t i = 0; i < text.size();) {
    if (skips) {
      const std::size_t done = std::exchange(i, skip_to_mark(text, i));
      if (i == text.size()) break;
      if (ascii::is_digit(text[i])) {  // its word begins before it
        while (i > done && is_word_byte(text[i - 1])) --i;
      }
    }
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
