// The tokens of a vocabulary by their bytes, and which of them a state of an automaton allows.
#pragma once
#include <cstdint>
#include <span>
#include <string_view>
#include <vector>

#include "services/inference/constrain/automaton.hpp"
#include "services/inference/sampling/parameters.hpp"
#include "services/model/tokenizer/tokenizer.hpp"

namespace stackgate::inference {

/// Bit id % 64 of word id / 64: Choosing::allowed.
using TokenMask = std::vector<std::uint64_t>;

inline void allow(TokenMask& mask, TokenId id) { mask[id / 64] |= std::uint64_t{1} << id % 64; }

/// Const once made; shared between threads.
class TokenTrie {
 public:
  /// `tokens`: the bytes of each id; those without bytes, such as special tokens, are never allowed.
  explicit TokenTrie(std::span<const std::string_view> tokens);
  explicit TokenTrie(const tokenizer::Tokenizer& tokenizer);

  /// All tokens that lead to a state that is not dead.
  void allowed(Automaton& automaton, Automaton::State from, TokenMask& mask) const;

  std::string_view bytes(TokenId id) const { return tokens_[id]; }
  std::uint32_t size() const { return static_cast<std::uint32_t>(tokens_.size()); }

 private:
  /// In reading order: what begins with a node's bytes stands right behind it.
  struct Node {
    std::uint32_t behind = 0;  // the first node that does not
    std::uint32_t first = 0;   // its tokens: those of `ids_` up to the next node's
    std::uint16_t depth = 0;
    unsigned char byte = 0;
  };
  struct Tree {
    std::vector<Node> nodes;
    std::vector<TokenId> ids;
  };
  static Tree tree_of(std::vector<TokenId> ids, std::span<const std::string_view> tokens);
  static void walk(const Tree& tree, Automaton& automaton, Automaton::State from, TokenMask& mask);

  std::vector<std::string_view> tokens_;
  TokenMask plain_mask_;  // tokens of whole characters that a JSON string takes as they are
  Tree plain_, others_;
};

}  // namespace stackgate::inference
