// Byte-pair encoding of one piece of text: the pair of lowest rank merges, the leftmost among equals, until none is
// left. Source: https://huggingface.co/docs/tokenizers/api/models#tokenizers.models.BPE
#pragma once
#include <array>
#include <cstdint>
#include <string_view>
#include <vector>

#include "services/model/tokenizer/description.hpp"

namespace stackgate::tokenizer {

/// The symbols that a piece begins as: the ids of single bytes and of <0xNN>, looked up once.
class BpeModel {
 public:
  BpeModel() = default;
  /// `description` must outlive it.
  explicit BpeModel(const Description& description);

  struct Symbol {
    TokenId id = 0;
    std::uint32_t length = 0;               // bytes of the piece; 0: merged into the one before it
    std::uint32_t rank = MergeTable::none;  // of the pair with the next one
    TokenId result = 0;                     // of that merge
    std::uint32_t previous = 0, next = 0;
  };

  /// Memory that one call after the other uses. Not thread-safe.
  class Scratch {
    friend class BpeModel;
    std::vector<Symbol> symbols;
    struct Candidate {
      std::uint32_t rank, at;
    };
    std::vector<Candidate> heap;
  };

  /// The tokens of `piece`, valid until the next call with this scratch. Short pieces by search, long ones by a heap:
  /// O(n log n). Symbols that are no token become bytes' tokens, the unknown token, or nothing, as the model says.
  const std::vector<Symbol>& encode(std::string_view piece, Scratch& scratch) const;

 private:
  void begin_symbols(std::string_view piece, std::vector<Symbol>& out) const;
  void unknown_symbol(std::string_view character, std::vector<Symbol>& out) const;
  void find_pair(std::vector<Symbol>& symbols, std::uint32_t at) const;
  void merge_short(std::vector<Symbol>& symbols) const;
  void merge_long(Scratch& scratch) const;

  const Description* description_ = nullptr;
  std::array<std::uint32_t, 256> byte_ids_{};      // of a token of this one byte; none where there is none
  std::array<std::uint32_t, 256> fallback_ids_{};  // of <0xNN>
};

}  // namespace stackgate::tokenizer
