// Pieces that were merged lately and their tokens: a table of fixed size in which a new piece takes the place of the
// one that was there. One per encoder; not thread-safe.
#pragma once
#include <array>
#include <cstdint>
#include <cstring>
#include <span>
#include <string_view>
#include <vector>

#include "services/model/tokenizer/vocabulary.hpp"

namespace stackgate::tokenizer {

class PieceCache {
 public:
  static constexpr std::size_t longest_piece = 30, most_ids = 8;

  /// `entries` of 64 bytes each, a power of two; 0: nothing is kept.
  explicit PieceCache(std::size_t entries) : entries_(entries) {}

  /// The ids of a piece that is there, valid until the next keep(); empty when it is not.
  std::span<const std::uint32_t> find(std::string_view piece) const {
    if (piece.size() > longest_piece || entries_.empty()) return {};
    const Entry& entry = entries_[slot(piece)];
    if (entry.length != piece.size() || std::memcmp(entry.text.data(), piece.data(), piece.size()) != 0) return {};
    return {entry.ids.data(), entry.count};
  }

  void keep(std::string_view piece, std::span<const std::uint32_t> ids) {
    if (piece.size() > longest_piece || ids.size() > most_ids || ids.empty() || entries_.empty()) return;
    Entry& entry = entries_[slot(piece)];
    entry.length = static_cast<std::uint8_t>(piece.size());
    entry.count = static_cast<std::uint8_t>(ids.size());
    std::memcpy(entry.text.data(), piece.data(), piece.size());
    std::memcpy(entry.ids.data(), ids.data(), ids.size_bytes());
  }

 private:
  struct Entry {
    std::uint8_t length = 0, count = 0;
    std::array<char, longest_piece> text{};
    std::array<std::uint32_t, most_ids> ids{};
  };
  static_assert(sizeof(Entry) == 64);
  std::size_t slot(std::string_view piece) const { return hash_bytes(piece) & (entries_.size() - 1); }

  std::vector<Entry> entries_;
};

}  // namespace stackgate::tokenizer
