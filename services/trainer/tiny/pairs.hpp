// Byte-pair merges learned from a text. Pure.
// Source: Sennrich, Haddow and Birch, "Neural Machine Translation of Rare Words with Subword Units"
// (https://arxiv.org/abs/1508.07909), over bytes as in GPT-2.
#pragma once
#include <cstdint>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace stackgate::trainer {

/// Symbols 0 … 255 are bytes; the n-th pair makes symbol 256 + n.
using Pairs = std::vector<std::pair<std::uint32_t, std::uint32_t>>;

/// At most `count` pairs, the most frequent first, of equally frequent ones the one of lower symbols. A pair lies
/// within a word: a blank and the letters behind it, digits, or other characters. Stops where nothing comes twice.
Pairs learn_pairs(std::string_view text, std::size_t count);

/// The bytes of each symbol, in their order.
std::vector<std::string> symbols_of(const Pairs& pairs);

}  // namespace stackgate::trainer
