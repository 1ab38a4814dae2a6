// One pass over a text that finds everything that looks like sensitive data. Each recogniser looks only a bounded
// number of bytes ahead and back, but for links, whose bytes are passed over once: linear time.
#pragma once
#include <bitset>
#include <cstddef>
#include <cstdint>
#include <string_view>
#include <vector>

#include "services/guardrail/detect/entities.hpp"
#include "services/kit/base/ascii.hpp"

namespace stackgate::guardrail {

struct Candidate {
  std::uint32_t begin = 0, end = 0;
  Entity entity = Entity::credit_card;
  float score = 0;
};
using Wanted = std::bitset<entity_count>;

/// Appends candidates of the kinds that are wanted; they may overlap and are in no order. Scores are without context.
void scan(std::string_view text, const Wanted& wanted, std::vector<Candidate>& out);

/// A letter, digit, underscore, or a byte of a character beyond ASCII.
constexpr bool is_word_byte(char c) { return ascii::is_alphanumeric(c) || c == '_' || static_cast<signed char>(c) < 0; }

/// What the recognisers share: the text, read without regard to its end, and what was found.
class Scan {
 public:
  Scan(std::string_view text, const Wanted& wanted, std::vector<Candidate>& out)
      : text_(text), wanted_(wanted), out_(out) {}

  std::string_view text() const { return text_; }
  std::string_view part(std::size_t begin, std::size_t end) const { return text_.substr(begin, end - begin); }
  /// '\0' beyond the ends: at(i - 1) may be asked for i = 0.
  char at(std::size_t i) const { return i < text_.size() ? text_[i] : '\0'; }
  bool digit_at(std::size_t i) const { return ascii::is_digit(at(i)); }
  /// Whether a word begins at `i` with a capital letter.
  bool capital_at(std::size_t i) const;
  std::size_t word_end(std::size_t at) const {
    while (at < text_.size() && is_word_byte(text_[at])) ++at;
    return at;
  }
  bool wants(Entity entity) const { return wanted_[static_cast<std::size_t>(entity)]; }
  void add(std::size_t begin, std::size_t end, Entity entity, double score) {
    if (wants(entity))
      out_.push_back(
          {static_cast<std::uint32_t>(begin), static_cast<std::uint32_t>(end), entity, static_cast<float>(score)});
  }

 private:
  std::string_view text_;
  const Wanted& wanted_;
  std::vector<Candidate>& out_;
};

// The recognisers; each gives where scanning goes on, beyond `at`.

/// At a word of digits alone, which ends at `end`.
std::size_t scan_number(Scan& scan, std::size_t at, std::size_t end);
/// At a word of digits and letters.
std::size_t scan_mixed_word(Scan& scan, std::size_t at, std::size_t end);
/// At a word that begins with a capital letter.
std::size_t scan_name(Scan& scan, std::size_t at, std::size_t end);
/// At '@'.
std::size_t scan_mail(Scan& scan, std::size_t at);
/// At "://".
std::size_t scan_url(Scan& scan, std::size_t at);
/// At '.' between two letters or digits; `floor`: where the last one ended.
std::size_t scan_host(Scan& scan, std::size_t at, std::size_t floor);
/// At what may begin an IPv6 address; `at` when it is none.
std::size_t scan_ip6(Scan& scan, std::size_t at);
/// The end of an IPv4 address that begins at `at`, or `at`.
std::size_t ip4_end(const Scan& scan, std::size_t at);
/// The end of a date in numbers, of a time of day, or of "12 March 2024", which begins at `at`; or `at`.
std::size_t date_end(const Scan& scan, std::size_t at);
/// The end of "March 12, 2024", whose month is [at, end); or `at`.
std::size_t month_date_end(const Scan& scan, std::size_t at, std::size_t end);
/// The end of "Baker Street", or `at`.
std::size_t street_end(const Scan& scan, std::size_t at);

}  // namespace stackgate::guardrail
