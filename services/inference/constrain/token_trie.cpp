#include "services/inference/constrain/token_trie.hpp"

#include <algorithm>

#include "services/kit/base/utf8.hpp"

namespace stackgate::inference {
namespace {

bool is_plain(std::string_view bytes) {
  const auto needs_escape = [](char c) { return static_cast<unsigned char>(c) < 0x20 || c == '"' || c == '\\'; };
  return utf8::is_valid(bytes) && std::ranges::none_of(bytes, needs_escape);
}

std::vector<std::string_view> texts_of(const tokenizer::Tokenizer& tokenizer) {
  std::vector<std::string_view> out(tokenizer.vocab_size());
  for (TokenId id = 0; id < out.size(); ++id)
    if (!tokenizer.is_special(id)) out[id] = tokenizer.token_bytes(id);
  return out;
}

}  // namespace

TokenTrie::TokenTrie(const tokenizer::Tokenizer& tokenizer) : TokenTrie(texts_of(tokenizer)) {}

TokenTrie::TokenTrie(std::span<const std::string_view> tokens)
    : tokens_(tokens.begin(), tokens.end()), plain_mask_((tokens.size() + 63) / 64) {
  constexpr std::size_t longest = 1024;  // longer tokens are never allowed
  std::vector<TokenId> plain, others;
  for (TokenId id = 0; id < tokens_.size(); ++id) {
    if (tokens_[id].empty() || tokens_[id].size() > longest) continue;
    const bool text = is_plain(tokens_[id]);
    (text ? plain : others).push_back(id);
    if (text) allow(plain_mask_, id);
  }
  plain_ = tree_of(std::move(plain), tokens_);
  others_ = tree_of(std::move(others), tokens_);
}

TokenTrie::Tree TokenTrie::tree_of(std::vector<TokenId> ids, std::span<const std::string_view> tokens) {
  std::ranges::sort(ids, {}, [tokens](TokenId id) { return tokens[id]; });
  Tree out;
  std::vector<std::uint32_t> open;  // the nodes of the last token's bytes
  std::string_view last;
  for (const TokenId id : ids) {
    const std::string_view bytes = tokens[id];
    const auto same = static_cast<std::size_t>(std::ranges::mismatch(bytes, last).in1 - bytes.begin());
    for (; open.size() > same; open.pop_back())
      out.nodes[open.back()].behind = static_cast<std::uint32_t>(out.nodes.size());
    for (std::size_t i = same; i < bytes.size(); ++i) {
      open.push_back(static_cast<std::uint32_t>(out.nodes.size()));
      out.nodes.push_back({.first = static_cast<std::uint32_t>(out.ids.size()),
                           .depth = static_cast<std::uint16_t>(i),
                           .byte = static_cast<unsigned char>(bytes[i])});
    }
    out.ids.push_back(id);
    last = bytes;
  }
  for (const std::uint32_t node : open) out.nodes[node].behind = static_cast<std::uint32_t>(out.nodes.size());
  out.nodes.push_back({.first = static_cast<std::uint32_t>(out.ids.size())});  // ends the last one's tokens
  return out;
}

void TokenTrie::walk(const Tree& tree, Automaton& automaton, Automaton::State from, TokenMask& mask) {
  std::vector<Automaton::State> states{from};  // by depth
  for (std::uint32_t at = 0; at + 1 < tree.nodes.size();) {
    const Node& node = tree.nodes[at];
    const Automaton::State to = automaton.step(states[node.depth], node.byte);
    if (to == Automaton::dead) {
      at = node.behind;
      continue;
    }
    if (states.size() <= node.depth + 1U) states.resize(node.depth + 2U);
    states[node.depth + 1U] = to;
    for (std::uint32_t i = node.first; i < tree.nodes[at + 1].first; ++i) allow(mask, tree.ids[i]);
    ++at;
  }
}

void TokenTrie::allowed(Automaton& automaton, Automaton::State from, TokenMask& mask) const {
  const bool text = automaton.takes_text(from);
  if (text)
    mask = plain_mask_;
  else
    mask.assign(plain_mask_.size(), 0);
  if (!text) walk(plain_, automaton, from, mask);
  walk(others_, automaton, from, mask);
}

}  // namespace stackgate::inference
