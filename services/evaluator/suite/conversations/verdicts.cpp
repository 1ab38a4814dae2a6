#include "services/evaluator/suite/conversations/verdicts.hpp"

#include <algorithm>
#include <array>
#include <span>

#include "services/evaluator/metrics/number_pattern.hpp"
#include "services/kit/base/ascii.hpp"
#include "services/kit/base/utf8.hpp"

namespace stackgate::evaluator {
namespace {

std::string_view trimmed(std::string_view text) {
  const auto begin = text.find_first_not_of(" \t\r*"), end = text.find_last_not_of(" \t\r*");
  return begin == std::string_view::npos ? std::string_view() : text.substr(begin, end - begin + 1);
}

template <class Take>
void each_line(std::string_view text, const Take& take) {
  while (!text.empty()) {
    const std::size_t end = std::min(text.find('\n'), text.size());
    if (!take(trimmed(text.substr(0, end)))) return;
    text.remove_prefix(std::min(end + 1, text.size()));
  }
}

/// Which of the words stands last; nothing: none does.
std::optional<std::size_t> last_of(std::string_view text, std::span<const std::string_view> words) {
  std::optional<std::size_t> best;
  std::size_t best_at = 0;
  for (std::size_t i = 0; i < words.size(); ++i)
    if (const std::size_t at = text.rfind(words[i]); at != std::string_view::npos && (!best || at > best_at))
      best = i, best_at = at;
  return best;
}

}  // namespace

std::expected<double, std::string> read_rating(std::string_view judgment) {
  static const NumberPattern twice = NumberPattern::compile(R"(\[\[(\d+\.?\d*)\]\])").value(),
                             once = NumberPattern::compile(R"(\[(\d+\.?\d*)\])").value();
  auto rating = twice.read(judgment);
  if (!rating) rating = once.read(judgment);
  if (!rating) return std::unexpected("the judge gives no rating in brackets");
  if (*rating < 1 || *rating > 10) return std::unexpected("the judge's rating is not between 1 and 10");
  return *rating;
}

std::optional<Preference> read_preference(std::string_view judgment) {
  static constexpr std::array<std::string_view, 3> words = {"[[A]]", "[[B]]", "[[C]]"};
  const auto found = last_of(judgment, words);
  return found ? std::optional(static_cast<Preference>(*found)) : std::nullopt;
}

std::optional<bool> read_yes_no(std::string_view judgment) {
  static constexpr std::array<std::string_view, 2> words = {"[[no]]", "[[yes]]"};
  const std::string lower = ascii::to_lower(judgment);
  const auto found = last_of(lower, words);
  return found ? std::optional(*found == 1) : std::nullopt;
}

std::vector<std::string> read_list(std::string_view judgment, std::size_t most) {
  std::vector<std::string> out;
  each_line(judgment, [&](std::string_view line) {
    if (!line.starts_with("- ")) return true;
    line = trimmed(line.substr(2));
    if (line.size() > 500) {
      line = line.substr(0, 500);
      while (!line.empty() && !utf8::is_valid(line)) line.remove_suffix(1);
    }
    if (!line.empty()) out.emplace_back(line);
    return out.size() < most;
  });
  return out;
}

std::string_view read_line(std::string_view judgment, std::string_view label) {
  std::string_view out;
  each_line(judgment, [&](std::string_view line) {
    const std::string_view start = line.substr(0, label.size());
    if (!ascii::equal_ignoring_case(start, label)) return true;
    line.remove_prefix(label.size());
    line = trimmed(line);  // "**Goal**: …"
    if (!line.starts_with(':')) return true;
    out = trimmed(line.substr(1));
    return out.empty();
  });
  return out;
}

}  // namespace stackgate::evaluator
