#include "services/inference/constrain/constraint.hpp"

#include <algorithm>

namespace stackgate::inference {

Constraint::Constraint(std::shared_ptr<const Grammar> grammar, std::shared_ptr<const TokenTrie> trie,
                       std::vector<TokenId> end_ids)
    : automaton_(std::move(grammar)),
      trie_(std::move(trie)),
      end_ids_(std::move(end_ids)),
      state_(automaton_.start()) {}

const TokenMask& Constraint::allowed() {
  constexpr std::size_t most_masks = 64;  // 1 MiB with 128,000 tokens
  if (const auto found = masks_.find(state_); found != masks_.end()) return found->second;
  if (masks_.size() >= most_masks) masks_.clear();
  TokenMask& mask = masks_[state_];
  trie_->allowed(automaton_, state_, mask);
  for (const TokenId id : end_ids_) {
    if (id / 64 >= mask.size()) mask.resize(id / 64 + 1);
    mask[id / 64] &= ~(std::uint64_t{1} << id % 64);
    if (complete()) allow(mask, id);
  }
  return mask;
}

bool Constraint::accept(TokenId id) {
  if (std::ranges::find(end_ids_, id) != end_ids_.end()) return complete();
  return id < trie_->size() && !trie_->bytes(id).empty() && accept(trie_->bytes(id));
}

bool Constraint::accept(std::string_view bytes) {
  const Automaton::State next = automaton_.run(state_, bytes);
  if (next == Automaton::dead) return false;
  state_ = next;
  return true;
}

}  // namespace stackgate::inference
