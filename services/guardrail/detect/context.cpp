#include "services/guardrail/detect/context.hpp"

#include <algorithm>

#include "services/guardrail/detect/scan.hpp"
#include "services/kit/base/ascii.hpp"

namespace stackgate::guardrail {
namespace {

constexpr int words_before = 5;
constexpr std::size_t bytes_before = 200;

bool is_or_begins(std::string_view word, std::string_view wanted) {
  if (word.size() < wanted.size() || !ascii::equal_ignoring_case(word.substr(0, wanted.size()), wanted)) return false;
  const std::string_view rest = word.substr(wanted.size());
  return rest.empty() || rest == "s" || rest == "S" || rest == "#";
}

template <class Words>
bool search(std::string_view text, std::size_t at, const Words& words) {
  const std::size_t floor = at > bytes_before ? at - bytes_before : 0;
  for (int count = 0; count < words_before; ++count) {
    while (at > floor && !is_word_byte(text[at - 1])) --at;
    const std::size_t end = at;
    while (at > floor && is_word_byte(text[at - 1])) --at;
    if (at == end) return false;
    const std::string_view word = text.substr(at, end - at);
    if (std::ranges::any_of(words, [&](const auto& wanted) { return is_or_begins(word, wanted); })) return true;
  }
  return false;
}

}  // namespace

bool has_context(std::string_view text, std::size_t at, std::span<const std::string_view> words) {
  return search(text, at, words);
}

bool has_context(std::string_view text, std::size_t at, std::span<const std::string> words) {
  return search(text, at, words);
}

float raised_by_context(float score) { return std::min(1.0F, std::max(0.4F, score + 0.35F)); }

}  // namespace stackgate::guardrail
