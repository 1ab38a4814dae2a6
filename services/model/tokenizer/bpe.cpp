#include "services/model/tokenizer/bpe.hpp"

#include <algorithm>

#include <fmt/format.h>

#include "services/kit/base/utf8.hpp"

namespace stackgate::tokenizer {
namespace {

constexpr std::uint32_t no_id = 0xFFFF'FFFF;
constexpr std::uint32_t nothing = 0xFFFF'FFFF;  // behind the last symbol
constexpr std::size_t short_piece = 48;

}  // namespace

BpeModel::BpeModel(const Description& description) : description_(&description) {
  for (unsigned byte = 0; byte < 256; ++byte) {
    const char c = static_cast<char>(static_cast<unsigned char>(byte));
    byte_ids_[byte] = description.vocabulary.find(std::string_view(&c, 1)).value_or(no_id);
    fallback_ids_[byte] = description.byte_fallback
                              ? description.vocabulary.find(fmt::format("<0x{:02X}>", byte)).value_or(no_id)
                              : no_id;
  }
}

void BpeModel::unknown_symbol(std::string_view character, std::vector<Symbol>& out) const {
  const auto fallback = [&](char c) { return fallback_ids_[static_cast<unsigned char>(c)]; };
  if (description_->byte_fallback && std::ranges::all_of(character, [&](char c) { return fallback(c) != no_id; })) {
    for (const char c : character) out.push_back({.id = fallback(c), .length = 1});
    return;
  }
  const auto length = static_cast<std::uint32_t>(character.size());
  // What is dropped belongs to the symbol before it, so that offsets stay right.
  const bool fused = description_->fuse_unknown && !out.empty() && out.back().id == description_->unknown;
  if (description_->unknown && !fused)
    out.push_back({.id = *description_->unknown, .length = length});
  else if (!out.empty())
    out.back().length += length;
}

void BpeModel::begin_symbols(std::string_view piece, std::vector<Symbol>& out) const {
  out.clear();
  for (std::size_t at = 0; at < piece.size();) {
    const std::size_t length =
        description_->byte_level ? 1 : std::max<std::size_t>(utf8::sequence_length(piece.substr(at)), 1);
    const std::string_view character = piece.substr(at, length);
    const std::uint32_t id = length == 1 ? byte_ids_[static_cast<unsigned char>(character[0])]
                                         : description_->vocabulary.find(character).value_or(no_id);
    if (id != no_id)
      out.push_back({.id = id, .length = static_cast<std::uint32_t>(length)});
    else
      unknown_symbol(character, out);
    at += length;
  }
}

void BpeModel::find_pair(std::vector<Symbol>& symbols, std::uint32_t at) const {
  Symbol& left = symbols[at];
  if (left.next == nothing) {
    left.rank = MergeTable::none;
    return;
  }
  const auto [rank, result] = description_->merges.find(left.id, symbols[left.next].id);
  left.rank = rank;
  left.result = result;
}

/// The symbols lie side by side: what merges moves the rest down.
void BpeModel::merge_short(std::vector<Symbol>& symbols) const {
  const auto pair_at = [&](std::size_t at) {
    if (at + 1 >= symbols.size()) {
      symbols[at].rank = MergeTable::none;
      return;
    }
    const auto [rank, result] = description_->merges.find(symbols[at].id, symbols[at + 1].id);
    symbols[at].rank = rank;
    symbols[at].result = result;
  };
  for (std::size_t at = 0; at < symbols.size(); ++at) pair_at(at);
  while (true) {
    const auto best = std::ranges::min_element(symbols, {}, &Symbol::rank);
    if (best == symbols.end() || best->rank == MergeTable::none) return;
    best->id = best->result;
    best->length += (best + 1)->length;
    const auto at = static_cast<std::size_t>(best - symbols.begin());
    symbols.erase(best + 1);
    pair_at(at);
    if (at > 0) pair_at(at - 1);
  }
}

void BpeModel::merge_long(Scratch& scratch) const {
  std::vector<Symbol>& symbols = scratch.symbols;
  auto& heap = scratch.heap;
  heap.clear();
  const auto later = [](const Scratch::Candidate& a, const Scratch::Candidate& b) {
    return a.rank != b.rank ? a.rank > b.rank : a.at > b.at;
  };
  const auto count = static_cast<std::uint32_t>(symbols.size());
  for (std::uint32_t at = 0; at < count; ++at) {
    symbols[at].previous = at == 0 ? nothing : at - 1;
    symbols[at].next = at + 1 == count ? nothing : at + 1;
  }
  for (std::uint32_t at = 0; at < count; ++at) {
    find_pair(symbols, at);
    if (symbols[at].rank != MergeTable::none) heap.push_back({symbols[at].rank, at});
  }
  std::ranges::make_heap(heap, later);
  const auto offer = [&](std::uint32_t at) {
    find_pair(symbols, at);
    if (symbols[at].rank == MergeTable::none) return;
    heap.push_back({symbols[at].rank, at});
    std::ranges::push_heap(heap, later);
  };
  while (!heap.empty()) {
    std::ranges::pop_heap(heap, later);
    const auto [rank, at] = heap.back();
    heap.pop_back();
    Symbol& left = symbols[at];
    if (left.length == 0 || left.rank != rank) continue;  // the pair is no more
    Symbol& right = symbols[left.next];
    left.id = left.result;
    left.length += right.length;
    right.length = 0;
    right.rank = MergeTable::none;
    left.next = right.next;
    if (left.next != nothing) symbols[left.next].previous = at;
    offer(at);
    if (left.previous != nothing) offer(left.previous);
  }
  std::erase_if(symbols, [](const Symbol& symbol) { return symbol.length == 0; });
}

const std::vector<BpeModel::Symbol>& BpeModel::encode(std::string_view piece, Scratch& scratch) const {
  begin_symbols(piece, scratch.symbols);
  if (scratch.symbols.size() <= short_piece)
    merge_short(scratch.symbols);
  else
    merge_long(scratch);
  return scratch.symbols;
}

}  // namespace stackgate::tokenizer
