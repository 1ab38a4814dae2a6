#include "services/trainer/tiny/pairs.hpp"

#include <map>

namespace stackgate::trainer {
namespace pairs_detail {

struct Word {
  std::vector<std::uint32_t> symbols;
  std::uint64_t count = 0;
};

enum class Class : std::uint8_t { letter, digit, blank, other };

Class class_of(char c) {
  const auto byte = static_cast<unsigned char>(c);
  if (byte >= 0x80 || (byte >= 'a' && byte <= 'z') || (byte >= 'A' && byte <= 'Z')) return Class::letter;
  if (byte >= '0' && byte <= '9') return Class::digit;
  return byte <= ' ' ? Class::blank : Class::other;
}

/// Each different word once, as bytes.
std::vector<Word> words_of(std::string_view text) {
  std::map<std::string_view, std::uint64_t> counts;
  for (std::size_t at = 0; at < text.size();) {
    std::size_t end = at;
    if (text[end] == ' ' && end + 1 < text.size() && class_of(text[end + 1]) != Class::blank) ++end;
    const Class kind = class_of(text[end]);
    while (end < text.size() && class_of(text[end]) == kind) {
      ++end;
      // A blank belongs to the word behind it.
      if (kind == Class::blank && end < text.size() && text[end] == ' ') break;
    }
    ++counts[text.substr(at, end - at)];
    at = end;
  }
  std::vector<Word> out;
  for (const auto& [word, count] : counts) {
    out.push_back({.symbols = {}, .count = count});
    for (const char c : word) out.back().symbols.push_back(static_cast<unsigned char>(c));
  }
  return out;
}

void replace(std::vector<std::uint32_t>& symbols, std::pair<std::uint32_t, std::uint32_t> pair, std::uint32_t by) {
  std::size_t to = 0;
  for (std::size_t from = 0; from < symbols.size(); ++to) {
    const bool here = from + 1 < symbols.size() && symbols[from] == pair.first && symbols[from + 1] == pair.second;
    symbols[to] = here ? by : symbols[from];
    from += here ? 2 : 1;
  }
  symbols.resize(to);
}

}  // namespace pairs_detail

Pairs learn_pairs(std::string_view text, std::size_t count) {
  using namespace pairs_detail;
  std::vector<Word> words = words_of(text);
  Pairs out;
  while (out.size() < count) {
    std::map<std::pair<std::uint32_t, std::uint32_t>, std::uint64_t> counts;
    for (const Word& word : words)
      for (std::size_t i = 0; i + 1 < word.symbols.size(); ++i)
        counts[{word.symbols[i], word.symbols[i + 1]}] += word.count;
    std::pair<std::uint32_t, std::uint32_t> best{};
    std::uint64_t most = 1;
    for (const auto& [pair, times] : counts)
      if (times > most) most = times, best = pair;
    if (most == 1) break;
    const auto by = static_cast<std::uint32_t>(256 + out.size());
    out.push_back(best);
    for (Word& word : words) replace(word.symbols, best, by);
  }
  return out;
}

std::vector<std::string> symbols_of(const Pairs& pairs) {
  std::vector<std::string> out;
  out.reserve(256);
  for (int byte = 0; byte < 256; ++byte) out.emplace_back(1, static_cast<char>(byte));
  for (const auto& [left, right] : pairs) out.push_back(out[left] + out[right]);
  return out;
}

}  // namespace stackgate::trainer
