#include "services/kit/findings/nearest.hpp"

#include <algorithm>
#include <array>

#include "services/kit/grammar/characters.hpp"

namespace stackgate::validate {
namespace {

constexpr std::size_t longest_word = 40;

char lower_letter(char c) { return grammar::to_lower(c); }

// Edit distance with transpositions, case ignored; gives up above `limit`.
std::size_t distance(std::string_view a, std::string_view b, std::size_t limit) {
  std::array<std::array<unsigned, longest_word + 1>, 3> rows;  // the last three of the table
  std::array<char, longest_word> of_a, of_b;
  std::ranges::transform(a, of_a.begin(), lower_letter);
  std::ranges::transform(b, of_b.begin(), lower_letter);
  for (unsigned j = 0; j <= b.size(); ++j) rows[0][j] = j;
  for (unsigned i = 1; i <= a.size(); ++i) {
    auto& now = rows[i % 3];
    const auto& before = rows[(i + 2) % 3];
    now[0] = i;
    unsigned least = i;
    for (unsigned j = 1; j <= b.size(); ++j) {
      const bool same = of_a[i - 1] == of_b[j - 1];
      now[j] = std::min({before[j] + 1, now[j - 1] + 1, before[j - 1] + (same ? 0U : 1U)});
      if (i > 1 && j > 1 && of_a[i - 1] == of_b[j - 2] && of_a[i - 2] == of_b[j - 1])
        now[j] = std::min(now[j], rows[(i + 1) % 3][j - 2] + 1);
      least = std::min(least, now[j]);
    }
    if (least > limit) return limit + 1;
  }
  return rows[a.size() % 3][b.size()];
}

// A part of a camel-cased name: it begins and ends where words do.
bool is_word_of(std::string_view whole, std::size_t at, std::size_t size) {
  const bool begins = at == 0 || grammar::is_upper(whole[at]);
  const bool ends = at + size == whole.size() || grammar::is_upper(whole[at + size]);
  return begins && ends;
}

bool holds_part(std::string_view whole, std::string_view part) {
  return !std::ranges::search(whole, part, {}, lower_letter, lower_letter).empty();
}

// Whether the written word may stand for a known field that holds it or that it holds: by whole words that make up most
// of the longer name ("accessMode" for volumeAccessMode, not "data" for metadata, nor "nodePort" for port), or by the
// beginning ("repo" for repository, "hostname" for host).
bool is_part_of(std::string_view word, std::string_view field) {
  constexpr std::size_t shortest = 4;
  const bool shorter = word.size() < field.size();
  const std::string_view part = shorter ? word : field;
  const std::string_view whole = shorter ? field : word;
  if (part.size() < shortest || part.size() == whole.size()) return false;
  const auto found = std::ranges::search(whole, part, {}, lower_letter, lower_letter);
  if (found.empty()) return false;
  const auto at = static_cast<std::size_t>(found.begin() - whole.begin());
  if (part.size() * 2 > whole.size() && is_word_of(whole, at, part.size())) return true;
  if (at != 0 || grammar::is_upper(whole[part.size()])) return false;
  return shorter || part.size() * 2 >= whole.size();
}

}  // namespace

std::string_view nearest(std::string_view word, std::span<const std::string_view> known) {
  if (word.empty() || word.size() > longest_word) return {};
  std::string_view best;
  std::size_t best_distance = std::max<std::size_t>(1, word.size() / 3) + 1;
  for (const std::string_view each : known) {
    if (each.empty() || each.size() > longest_word) continue;
    const std::size_t gap = each.size() > word.size() ? each.size() - word.size() : word.size() - each.size();
    if (gap >= best_distance) continue;
    const std::size_t found = distance(word, each, best_distance - 1);
    // One letter for another in a short word is no likeness.
    if (found >= best_distance || found >= std::max(word.size(), each.size())) continue;
    best = each;
    best_distance = found;
    if (found == 0) break;
  }
  return best;
}

std::string_view similar_field(std::string_view word, std::span<const std::string_view> known) {
  if (const std::string_view like = nearest(word, known); !like.empty()) return like;
  if (word.size() > longest_word) return {};
  // A value that stands under such a name is none for the name of a Secret or of its key.
  for (const std::string_view secret : {"password", "apikey", "token", "secretkey", "accesskey"})
    if (holds_part(word, secret)) return {};
  std::string_view found;
  for (const std::string_view each : known) {
    if (!is_part_of(word, each)) continue;
    if (!found.empty()) return {};  // of several nobody knows which
    found = each;
  }
  return found;
}

}  // namespace stackgate::validate
