#include "services/evaluator/pages/views/diff.hpp"

#include <algorithm>
#include <cstddef>
#include <cstdint>

namespace stackgate::evaluator::pages {
namespace diff_detail {

constexpr std::size_t most_words = 500;
constexpr std::string_view space = " \t\r\n";

/// Words with the white space behind them; the first one also with what is before it.
std::vector<std::string_view> words_of(std::string_view text) {
  std::vector<std::string_view> out;
  while (!text.empty() && out.size() <= most_words) {
    const std::size_t begin = std::min(text.find_first_not_of(space), text.size());
    const std::size_t stop = std::min(text.find_first_of(space, begin), text.size());
    const std::size_t end = std::min(text.find_first_not_of(space, stop), text.size());
    out.push_back(text.substr(0, end));
    text.remove_prefix(end);
  }
  return out;
}

std::string_view trimmed(std::string_view word) {
  const std::size_t begin = word.find_first_not_of(space), end = word.find_last_not_of(space);
  return begin == std::string_view::npos ? std::string_view() : word.substr(begin, end - begin + 1);
}

/// Neighbours of one kind become one part.
void append(std::vector<DiffPart>& parts, std::string_view word, bool differs) {
  if (!parts.empty() && parts.back().differs == differs)
    parts.back().text = {parts.back().text.data(), parts.back().text.size() + word.size()};
  else
    parts.push_back({word, differs});
}

}  // namespace diff_detail

Diff diff_of(std::string_view left, std::string_view right) {
  using namespace diff_detail;
  const std::vector<std::string_view> a = words_of(left), b = words_of(right);
  if (a.size() > most_words || b.size() > most_words) return {{{left, false}}, {{right, false}}, false};
  // The length of the longest common subsequence of what follows, by dynamic programming.
  const std::size_t width = b.size() + 1;
  std::vector<std::uint16_t> longest((a.size() + 1) * width, 0);
  for (std::size_t i = a.size(); i-- > 0;)
    for (std::size_t j = b.size(); j-- > 0;)
      longest[i * width + j] = trimmed(a[i]) == trimmed(b[j])
                                   ? static_cast<std::uint16_t>(longest[(i + 1) * width + j + 1] + 1)
                                   : std::max(longest[(i + 1) * width + j], longest[i * width + j + 1]);
  Diff out;
  std::size_t i = 0, j = 0;
  while (i < a.size() || j < b.size()) {
    if (i < a.size() && j < b.size() && trimmed(a[i]) == trimmed(b[j])) {
      append(out.left, a[i++], false);
      append(out.right, b[j++], false);
    } else if (j == b.size() || (i < a.size() && longest[(i + 1) * width + j] >= longest[i * width + j + 1])) {
      append(out.left, a[i++], true);
    } else {
      append(out.right, b[j++], true);
    }
  }
  return out;
}

}  // namespace stackgate::evaluator::pages
