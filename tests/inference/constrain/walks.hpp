// Random texts that a grammar allows, token by token.
#pragma once
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "services/inference/constrain/constraint.hpp"
#include "tests/support/dice.hpp"

namespace stackgate::inference::test {

/// Every byte, and pieces that cross the borders of JSON's parts.
struct SmallVocabulary {
  std::vector<std::string> texts;
  std::shared_ptr<const TokenTrie> trie;
  TokenId end = 0;
};

inline const SmallVocabulary& small_vocabulary() {
  static const SmallVocabulary made = [] {
    SmallVocabulary out;
    for (unsigned byte = 0; byte < 256; ++byte)
      out.texts.emplace_back(1, static_cast<char>(static_cast<unsigned char>(byte)));
    for (const char* piece :
         {"{\"",  "\":",   "\": ",   "\",",     "\", \"",  "\"}", "{}",       "[]",    "[",   "],",   "}]",
          "}}",   "true",  "false,", "null",    "12",      "345", "-1",       "0.",    "e+",  "1e5",  " {",
          "\n  ", "\\n",   "\\u00",  "\\ud83d", "\\ude00", "é",   "\xE2\x82", "\xAC",  "abc", "name", "\"name\"",
          "a\"",  "a\":1", "a\\",    "true}",   "1}",      "1,",  "\",\"",    "\":\"", "[\"", "\"]"})
      out.texts.emplace_back(piece);
    out.end = static_cast<TokenId>(out.texts.size());
    std::vector<std::string_view> views(out.texts.begin(), out.texts.end());
    views.emplace_back();  // the end token has no text
    out.trie = std::make_shared<const TokenTrie>(views);
    return out;
  }();
  return made;
}

inline bool is_allowed(const TokenMask& mask, TokenId id) {
  return id / 64 < mask.size() && (mask[id / 64] >> id % 64 & 1U) != 0;
}

/// Nothing: there was no way on. What closes is preferred after `size` bytes.
inline std::optional<std::string> walk(const std::shared_ptr<const Grammar>& grammar, testing::Dice& dice,
                                       std::size_t size) {
  const SmallVocabulary& vocabulary = small_vocabulary();
  Constraint constraint(grammar, vocabulary.trie, {vocabulary.end});
  std::string out;
  for (int step = 0; step < 5000; ++step) {
    const TokenMask& mask = constraint.allowed();
    std::vector<TokenId> possible;
    for (TokenId id = 0; id <= vocabulary.end; ++id)
      if (is_allowed(mask, id)) possible.push_back(id);
    if (possible.empty()) return constraint.finished() ? std::optional(out) : std::nullopt;
    TokenId id = possible[dice.roll(possible.size())];
    if (out.size() > size)
      for (const TokenId closing : {static_cast<TokenId>('0'), static_cast<TokenId>(']'), static_cast<TokenId>('}'),
                                    static_cast<TokenId>('"'), vocabulary.end})
        if (is_allowed(mask, closing)) id = closing;
    if (!constraint.accept(id)) return std::nullopt;
    if (id == vocabulary.end) return out;
    out += vocabulary.texts[id];
  }
  return std::nullopt;
}

}  // namespace stackgate::inference::test
