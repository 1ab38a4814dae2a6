// People, places and streets, by lists and by the words around them.
#include <algorithm>
#include <array>
#include <string>

#include "services/guardrail/detect/checksums.hpp"
#include "services/guardrail/detect/scan.hpp"
#include "services/guardrail/detect/words.hpp"

namespace stackgate::guardrail {
namespace {

constexpr std::size_t longest_name_word = 30;

/// The word as lists have it: "JOHN" is "John". Views into `buffer` or the text.
std::string_view as_listed(std::string_view word, std::array<char, longest_name_word>& buffer) {
  if (word.size() < 3 || word.size() > buffer.size() || !std::ranges::all_of(word, ascii::is_upper)) return word;
  std::ranges::transform(word, buffer.begin(), [](char c) { return ascii::to_lower(c); });
  buffer[0] = word[0];
  return {buffer.data(), word.size()};
}

/// The end of a capitalised word with its hyphens and apostrophes, "Smith-Jones", "O'Brien"; or `at`.
std::size_t name_word_end(const Scan& scan, std::size_t at) {
  if (!scan.capital_at(at)) return at;
  std::size_t end = scan.word_end(at);
  const bool irish = end == at + 1 && scan.at(end) == '\'';
  if ((scan.at(end) == '-' || irish) && scan.capital_at(end + 1)) end = scan.word_end(end + 1);
  return end;
}

struct FollowingWords {
  std::size_t end = 0;
  std::size_t count = 0;
  std::string_view last{};
};

/// Up to three capitalised words after `end`, with initials and particles, as far as they can be a name's.
FollowingWords following(const Scan& scan, std::size_t end) {
  FollowingWords out{.end = end};
  std::size_t at = end;
  for (int i = 0; i < 6 && out.count < 3; ++i) {
    if (scan.at(at) != ' ') break;
    const std::size_t begin = at + 1, word_end = scan.word_end(begin);
    const std::string_view word = scan.part(begin, word_end);
    if (word.size() == 1 && ascii::is_upper(word[0]) && scan.at(word_end) == '.') {
      at = word_end + 1;  // an initial
      continue;
    }
    if (is_particle(word)) {
      at = word_end;
      continue;
    }
    const std::size_t stop = name_word_end(scan, begin);
    std::array<char, longest_name_word> buffer;
    if (stop == begin || is_no_name(as_listed(word, buffer)) || word.find_first_of("0123456789_") != word.npos) break;
    out.last = scan.part(begin, stop);
    out.end = at = stop;
    ++out.count;
  }
  return out;
}

/// A person whose name begins at `at`; the end, or `at`.
std::size_t scan_person(Scan& scan, std::size_t at, std::size_t end) {
  std::array<char, longest_name_word> buffer, last_buffer;
  const std::string_view word = as_listed(scan.part(at, end), buffer);
  if (is_title(word)) {
    const std::size_t blank = end + (scan.at(end) == '.' ? 1 : 0);
    const FollowingWords name = following(scan, blank);
    if (name.count == 0) return at;
    scan.add(blank + 1, name.end, Entity::person, 0.85);
    return name.end;
  }
  const std::size_t whole = name_word_end(scan, at);
  const bool known = is_given_name(word), ambiguous = !known && is_ambiguous_given_name(word);
  if (known || ambiguous) {
    const FollowingWords name = following(scan, whole);
    const bool likely = name.count > 0 && (known || is_surname(as_listed(name.last, last_buffer)));
    if (likely) {
      scan.add(at, name.end, Entity::person, 0.85);
      return name.end;
    }
    scan.add(at, whole, Entity::person, known ? 0.6 : 0.05);
    return whole;
  }
  constexpr std::string_view introduction = "name is ";
  if (at >= introduction.size() && scan.part(at - introduction.size(), at) == introduction && !is_no_name(word)) {
    const FollowingWords name = following(scan, whole);
    scan.add(at, name.end, Entity::person, 0.6);
    return name.end;
  }
  if (is_surname(word)) {
    scan.add(at, whole, Entity::person, 0.05);
    return whole;
  }
  return at;
}

std::size_t scan_place(Scan& scan, std::size_t at, std::size_t end) {
  std::array<char, longest_name_word> buffer;
  const std::string_view listed = as_listed(scan.part(at, end), buffer);
  if (!begins_place(listed)) return at;
  std::array<std::size_t, 4> ends{end};
  std::size_t count = 1;
  for (; count < ends.size() && scan.at(ends[count - 1]) == ' ' && is_word_byte(scan.at(ends[count - 1] + 1)); ++count)
    ends[count] = scan.word_end(ends[count - 1] + 1);
  for (; count > 0; --count) {
    const std::size_t stop = ends[count - 1];
    if (stop - at > 40) continue;
    const std::string_view name = count == 1 ? listed : scan.part(at, stop);
    if (!is_place(name)) continue;
    scan.add(at, stop, Entity::location, is_ambiguous_place(name) ? 0.4 : 0.85);
    return stop;
  }
  return at;
}

/// A driver's licence, a passport or a registration of the DEA: letters, then digits.
void scan_license(Scan& scan, std::size_t at, std::size_t end) {
  const std::string_view word = scan.part(at, end);
  const std::size_t letters = static_cast<std::size_t>(std::ranges::find_if_not(word, ascii::is_letter) - word.begin());
  const std::string_view digits = word.substr(letters);
  if (is_dea_number(word)) scan.add(at, end, Entity::medical_license, 1.0);
  if (letters == 0 || digits.empty() || !std::ranges::all_of(digits, ascii::is_digit)) return;
  if (letters == 1 && digits.size() == 8) scan.add(at, end, Entity::us_passport, 0.1);
  if ((letters == 1 && digits.size() >= 5 && digits.size() <= 14) ||
      (letters <= 3 && digits.size() >= 3 && digits.size() <= 7))
    scan.add(at, end, Entity::us_driver_license, 0.1);
}

/// An IBAN, in one piece or in groups with single blanks or hyphens; the end, or `at`.
std::size_t scan_iban(Scan& scan, std::size_t at) {
  const std::size_t length = iban_length(scan.part(at, std::min(at + 2, scan.text().size())));
  if (length == 0 || !scan.digit_at(at + 2) || !scan.digit_at(at + 3)) return at;
  std::array<char, 34> iban{};
  std::size_t size = 0, i = at;
  while (size < length) {
    const char c = scan.at(i++);
    if (ascii::is_digit(c) || ascii::is_upper(c)) {
      iban[size++] = c;
    } else if ((c != ' ' && c != '-') || !ascii::is_alphanumeric(scan.at(i))) {
      return at;
    }
  }
  if (is_word_byte(scan.at(i)) || !is_iban({iban.data(), size})) return at;
  scan.add(at, i, Entity::iban_code, 1.0);
  return i;
}

void scan_crypto(Scan& scan, std::size_t at, std::size_t end) {
  const std::string_view word = scan.part(at, end);
  const bool ethereum =
      word.size() == 42 && word.starts_with("0x") && std::ranges::all_of(word.substr(2), ascii::is_hex);
  if (ethereum) scan.add(at, end, Entity::crypto, 0.5);
  if (((word[0] == '1' || word[0] == '3') && is_base58check_address(word)) ||
      ((word[0] == 'b' || word[0] == 'B') && is_bech32_address(word)))
    scan.add(at, end, Entity::crypto, 1.0);
}

}  // namespace

std::size_t street_end(const Scan& scan, std::size_t at) {
  std::size_t begin = at;
  for (int words = 0; words < 4; ++words) {
    const std::size_t end = name_word_end(scan, begin);
    if (end == begin) return at;
    if (words > 0 && is_street(scan.part(begin, end))) return end;
    if (scan.at(end) != ' ') return at;
    begin = end + 1;
  }
  return at;
}

std::size_t scan_name(Scan& scan, std::size_t at, std::size_t end) {
  std::size_t found = end;
  if (scan.wants(Entity::date_time))
    if (const std::size_t stop = month_date_end(scan, at, end); stop != at) {
      scan.add(at, stop, Entity::date_time, 0.6);
      return stop;
    }
  if (end - at > longest_name_word || end - at < 2) return end;
  if (scan.wants(Entity::person)) found = std::max(found, scan_person(scan, at, end));
  if (scan.wants(Entity::location)) found = std::max(found, scan_place(scan, at, end));
  return found;
}

std::size_t scan_mixed_word(Scan& scan, std::size_t at, std::size_t end) {
  if (scan.digit_at(at)) {
    if (const std::size_t stop = date_end(scan, at); stop != at) {
      scan.add(at, stop, Entity::date_time, 0.6);
      return stop;
    }
    if (end - at <= 5 && scan.at(end) == ' ' && scan.wants(Entity::location))
      if (const std::size_t stop = street_end(scan, end + 1); stop != end + 1) {
        scan.add(at, stop, Entity::location, 0.6);
        return stop;
      }
  }
  if (scan.wants(Entity::iban_code) && ascii::is_upper(scan.at(at)))
    if (const std::size_t stop = scan_iban(scan, at); stop != at) return stop;
  if (end - at >= 14 && end - at <= 74 && scan.wants(Entity::crypto)) scan_crypto(scan, at, end);
  if (end - at <= 15) scan_license(scan, at, end);
  return end;
}

}  // namespace stackgate::guardrail
