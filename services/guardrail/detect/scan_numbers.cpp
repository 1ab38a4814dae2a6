// Numbers of cards, people and telephones, written with or without separators.
#include <algorithm>
#include <array>

#include "services/guardrail/detect/checksums.hpp"
#include "services/guardrail/detect/scan.hpp"

namespace stackgate::guardrail {
namespace {

constexpr std::size_t most_groups = 10, most_digits = 24;

/// Digits in groups, as "+1 (212) 555-0100", "078-05-1120": what the recognisers choose from.
struct Groups {
  std::size_t begin = 0;  // with the plus sign or parenthesis before it
  char opening = '\0';    // '+', '(' or none
  std::size_t count = 0;
  std::array<std::size_t, most_groups> ends{};   // in the text
  std::array<std::size_t, most_groups> sizes{};  // digits
  std::array<char, most_groups> separators{};    // before each; ')' for ") "
  std::array<char, most_digits> digits{};
  std::size_t digit_count = 0;

  std::string_view first(std::size_t number) const { return {digits.data(), number}; }
  std::size_t digits_of(std::size_t groups) const {
    std::size_t sum = 0;
    for (std::size_t i = 0; i < groups; ++i) sum += sizes[i];
    return sum;
  }
  /// Whether the first groups have these sizes, with one kind of separator out of `allowed` between them.
  bool are(std::initializer_list<std::size_t> wanted, std::string_view allowed) const {
    return count >= wanted.size() && std::equal(wanted.begin(), wanted.end(), sizes.begin()) &&
           are_joined(wanted.size(), allowed);
  }
  bool are_joined(std::size_t groups, std::string_view allowed) const {
    for (std::size_t i = 1; i < groups; ++i)
      if (separators[i] != separators[1] || !allowed.contains(separators[i])) return false;
    return true;
  }
  /// Whether no further group is joined to these by the same sign.
  bool end_at(std::size_t groups) const {
    return groups >= count || groups < 2 || separators[groups] != separators[1] || separators[groups] == ' ';
  }
};

Groups groups_at(const Scan& scan, std::size_t at, std::size_t end) {
  Groups out;
  out.begin = at;
  if (const char before = scan.at(at - 1); before == '+' || before == '(') {
    out.opening = before;
    out.begin = at - 1;
    if (before == '(' && scan.at(at - 2) == '+') --out.begin;
  }
  while (out.count < most_groups) {
    if (out.digit_count + (end - at) > most_digits) break;
    std::copy_n(scan.text().begin() + static_cast<std::ptrdiff_t>(at), end - at,
                out.digits.begin() + static_cast<std::ptrdiff_t>(out.digit_count));
    out.digit_count += end - at;
    out.sizes[out.count] = end - at;
    out.ends[out.count++] = end;
    if (out.count == most_groups) break;
    char separator = scan.at(end);
    std::size_t next = end + 1;
    if (separator == ')') {
      if (scan.at(next) == ' ' || scan.at(next) == '-') ++next;
    } else if (separator == ' ' && scan.at(next) == '(') {
      separator = '(';
      ++next;
    } else if (!std::string_view(" -./").contains(separator)) {
      break;
    }
    if (!scan.digit_at(next)) break;
    const std::size_t stop = scan.word_end(next);
    if (!std::ranges::all_of(scan.part(next, stop), ascii::is_digit)) break;
    out.separators[out.count] = separator;
    at = next;
    end = stop;
  }
  return out;
}

bool is_card_issuer(std::string_view digits) {
  const char first = digits[0], second = digits[1];
  return first == '4' || first == '5' || first == '6' || (first == '3' && std::string_view("05678").contains(second)) ||
         (first == '2' && second >= '2' && second <= '7');
}

/// The end of a card's number, or 0.
std::size_t card_end(const Groups& groups) {
  for (std::size_t count = groups.count; count > 0; --count) {
    const std::size_t digits = groups.digits_of(count);
    if (digits < 12 || digits > 19 || !groups.are_joined(count, " -")) continue;
    const auto* const sizes = groups.sizes.begin();
    if (count > 1 &&
        (sizes[0] != 4 || !std::all_of(sizes, sizes + count, [](auto size) { return size >= 3 && size <= 7; })))
      continue;
    if (is_card_issuer(groups.first(digits)) && is_luhn(groups.first(digits))) return groups.ends[count - 1];
  }
  return 0;
}

bool is_exchange(char first_digit) { return first_digit >= '2'; }

struct Phone {
  std::size_t end = 0;
  double score = 0;
};

/// How many groups make up an international number: 8 to 15 digits (E.164).
std::size_t international(const Groups& groups) {
  std::size_t count = 0, digits = 0;
  while (count < groups.count && digits + groups.sizes[count] <= 15) digits += groups.sizes[count++];
  return digits >= 8 && groups.digits[0] != '0' ? count : 0;
}

/// National numbers begin with a zero: 9 to 12 digits in at least two groups.
std::size_t national(const Groups& groups) {
  if (groups.digits[0] != '0' || groups.sizes[0] < 2 || groups.first(3) == "000") return 0;
  std::size_t count = 0, digits = 0;
  while (count < groups.count && digits + groups.sizes[count] <= 12 && (count == 0 || groups.separators[count] != '.'))
    digits += groups.sizes[count++];
  return count >= 2 && digits >= 9 ? count : 0;
}

Phone phone(const Scan& scan, const Groups& groups) {
  if (scan.at(groups.begin) == '+')
    if (const std::size_t count = international(groups)) return {groups.ends[count - 1], 0.4};
  // North America: [1] NXX NXX XXXX
  const std::size_t country = groups.sizes[0] == 1 && groups.digits[0] == '1' ? 1 : 0;
  const auto* const sizes = groups.sizes.begin() + country;
  if (groups.count >= country + 3 && sizes[0] == 3 && sizes[1] == 3 && sizes[2] == 4 &&
      is_exchange(groups.digits[country]) && is_exchange(groups.digits[country + 3]) &&
      groups.separators[country + 1] != '/')
    return {groups.ends[country + 2], 0.4};
  if (const std::size_t count = national(groups)) return {groups.ends[count - 1], 0.4};
  const bool ten = groups.sizes[0] == 10 && is_exchange(groups.digits[0]) && is_exchange(groups.digits[3]);
  const bool eleven = groups.sizes[0] == 11 && (groups.digits[0] == '1' || groups.digits[0] == '0');
  if (ten || eleven) return {groups.ends[0], 0.1};
  if (groups.are({3, 4}, "-. ") && groups.end_at(2) && is_exchange(groups.digits[0])) return {groups.ends[1], 0.1};
  return {};
}

/// The fourth and fifth digit of a taxpayer's number.
bool is_itin(std::string_view digits) {
  const std::string_view group = digits.substr(3, 2);
  return digits[0] == '9' && ((group >= "50" && group <= "65") || (group >= "70" && group <= "88") ||
                              (group >= "90" && group <= "92") || (group >= "94" && group <= "99"));
}

/// One group without separators.
void scan_plain(Scan& scan, const Groups& groups, std::size_t at) {
  const std::size_t size = groups.sizes[0], end = groups.ends[0];
  if (size >= 8 && size <= 17) scan.add(at, end, Entity::us_bank_number, 0.05);
  if (size >= 6 && size <= 14) scan.add(at, end, Entity::us_driver_license, 0.01);
  if (size == 10 && is_nhs_number(groups.first(10))) scan.add(at, end, Entity::uk_nhs, 0.5);
  if (size != 9) return;
  scan.add(at, end, Entity::us_passport, 0.05);
  if (is_ssn(groups.first(9))) scan.add(at, end, Entity::us_ssn, 0.05);
  if (is_itin(groups.first(9))) scan.add(at, end, Entity::us_itin, 0.3);
}

}  // namespace

std::size_t scan_number(Scan& scan, std::size_t at, std::size_t end) {
  if (scan.at(at - 1) == '.' && scan.digit_at(at - 2)) return end;  // decimals of a number
  if (const std::size_t stop = ip4_end(scan, at); stop != at) {
    scan.add(at, stop, Entity::ip_address, 0.6);
    return stop;
  }
  if (const std::size_t stop = date_end(scan, at); stop != at) {
    scan.add(at, stop, Entity::date_time, 0.6);
    return stop;
  }
  if (end - at <= 5 && scan.at(end) == ' ' && scan.wants(Entity::location))
    if (const std::size_t stop = street_end(scan, end + 1); stop != end + 1) {
      scan.add(at, stop, Entity::location, 0.6);
      return stop;
    }
  const Groups groups = groups_at(scan, at, end);
  if (groups.digit_count < 6) return end;
  std::size_t found = end;
  const auto add = [&](std::size_t begin, std::size_t stop, Entity entity, double score) {
    scan.add(begin, stop, entity, score);
    if (scan.wants(entity)) found = std::max(found, stop);
  };
  if (const std::size_t stop = card_end(groups)) add(at, stop, Entity::credit_card, 1.0);
  if (groups.are({3, 2, 4}, "- .") && groups.end_at(3)) {
    if (is_ssn(groups.first(9))) add(at, groups.ends[2], Entity::us_ssn, 0.5);
    if (is_itin(groups.first(9)) && groups.separators[1] != '.') add(at, groups.ends[2], Entity::us_itin, 0.5);
  }
  if (groups.are({3, 3, 4}, "- ") && is_nhs_number(groups.first(10))) add(at, groups.ends[2], Entity::uk_nhs, 1.0);
  if (const Phone number = phone(scan, groups); number.end != 0)
    add(groups.begin, number.end, Entity::phone_number, number.score);
  if (!(scan.at(end) == '.' && scan.digit_at(end + 1))) scan_plain(scan, groups, at);
  return found;
}

}  // namespace stackgate::guardrail
