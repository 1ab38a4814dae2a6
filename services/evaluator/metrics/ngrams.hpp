// Runs of n words or characters, counted. Pure.
#pragma once
#include <algorithm>
#include <compare>
#include <cstdint>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

namespace stackgate::evaluator {

/// Words as numbers, so that runs of them are compared as such. Texts of one vocabulary only.
class Vocabulary {
 public:
  template <class Words>
  std::vector<std::uint32_t> numbers(const Words& words) {
    std::vector<std::uint32_t> out;
    out.reserve(words.size());
    for (const auto& word : words)
      out.push_back(known_.try_emplace(std::string(word), static_cast<std::uint32_t>(known_.size())).first->second);
    return out;
  }

 private:
  std::unordered_map<std::string, std::uint32_t> known_;
};

/// A run of numbers, packed without loss: up to four of 32 bits, or six of 21, which hold every code point.
struct Run {
  std::uint64_t high = 0, low = 0;
  auto operator<=>(const Run&) const = default;
};

/// Every run of `order` numbers, sorted: equal ones stand together. Runs of more than four are of characters.
inline std::vector<Run> sorted_runs(const std::u32string& text, std::size_t order) {
  const unsigned bits = order <= 4 ? 32 : 21;
  std::vector<Run> out;
  if (text.size() >= order) out.reserve(text.size() - order + 1);
  for (std::size_t i = 0; i + order <= text.size(); ++i) {
    Run run;
    for (std::size_t j = i; j < i + order; ++j) {
      run.high = run.high << bits | run.low >> (64 - bits);
      run.low = run.low << bits | text[j];
    }
    out.push_back(run);
  }
  std::ranges::sort(out);
  return out;
}
inline std::u32string to_text(const std::vector<std::uint32_t>& numbers) { return {numbers.begin(), numbers.end()}; }

/// How many runs two sorted lists have in common, each as often as the rarer has it.
inline std::uint64_t common_runs(const std::vector<Run>& a, const std::vector<Run>& b) {
  std::uint64_t out = 0;
  for (std::size_t i = 0, j = 0; i < a.size() && j < b.size();) {
    if (a[i] == b[j]) {
      ++out;
      ++i;
      ++j;
    } else if (a[i] < b[j]) {
      ++i;
    } else {
      ++j;
    }
  }
  return out;
}

}  // namespace stackgate::evaluator
