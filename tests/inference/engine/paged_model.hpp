// A graph whose logits depend on every token that its pages hold, so that a wrong page, position or adapter changes
// what is answered. Held against the real graph: tests/e2e/inference.
#pragma once
#include <algorithm>
#include <cstdint>
#include <expected>
#include <span>
#include <string>
#include <vector>

#include "services/inference/engine/sequence.hpp"
#include "services/model/adapter/adapter_weights.hpp"
#include "services/model/graph/graph.hpp"
#include "tests/model/tokenizer/small_tokenizers.hpp"

namespace stackgate::inference::test {

inline constexpr std::size_t vocabulary_size = 262;

inline const Vocabulary& vocabulary() {
  static const Vocabulary made = [] {
    auto tokenizer = tokenizer::test::make(tokenizer::test::byte_level());
    return Vocabulary{tokenizer, std::make_shared<const TokenTrie>(*tokenizer)};
  }();
  return made;
}

inline std::uint64_t mixed(std::uint64_t x) {
  x = (x ^ (x >> 30U)) * 0xBF58476D1CE4E5B9U;
  x = (x ^ (x >> 27U)) * 0x94D049BB133111EBU;
  return x ^ (x >> 31U);
}

class PagedModel final : public model::Graph {
 public:
  PagedModel(std::size_t pages, std::size_t page_tokens, std::size_t vocabulary)
      : page_tokens_(page_tokens), vocabulary_(vocabulary), cells_(pages * page_tokens) {}

  std::vector<float> logits_of(std::span<const std::uint32_t> tokens, std::uint64_t adapter) const {
    std::uint64_t state = mixed(adapter + 1);
    for (const std::uint32_t each : tokens) state = mixed(state ^ each);
    std::vector<float> out(vocabulary_);
    for (std::size_t i = 0; i < out.size(); ++i)
      out[i] = static_cast<float>(mixed(state + i * 0x9E3779B97F4A7C15U) >> 40U) / 4e6F;
    return out;
  }

  std::expected<void, std::string> step(std::span<const model::SequenceRows> sequences,
                                        const model::StepResults& results) override {
    ++steps;
    largest_step = std::max(largest_step, sequences.size());
    if (fails) return std::unexpected("a step failed: as the test wants it");
    for (std::size_t s = 0; s < sequences.size(); ++s) {
      const model::SequenceRows& each = sequences[s];
      const std::uint64_t adapter = each.adapter == nullptr ? 0 : each.adapter->layers.size();
      for (std::size_t i = 0; i < each.tokens.size(); ++i) cell(each, each.position + i) = each.tokens[i];
      computed += each.tokens.size();
      std::vector<std::uint32_t> known;
      for (std::size_t i = 0; i < each.position + each.tokens.size(); ++i) known.push_back(cell(each, i));
      for (std::size_t i = 0; i < each.tokens.size(); ++i) {
        const auto before = std::span(known).first(each.position + i + 1);
        if (each.hidden_states) results.hidden_state(s, i, {{static_cast<float>(each.tokens[i]), 1.0F}});
        if (i + each.logits < each.tokens.size()) continue;
        const std::vector<float> logits = logits_of(before, adapter);
        results.logits(s, i, logits);
      }
    }
    return {};
  }

  std::size_t steps = 0, computed = 0, largest_step = 0;
  bool fails = false;

 private:
  std::uint32_t& cell(const model::SequenceRows& of, std::size_t position) {
    return cells_.at(of.blocks[position / page_tokens_] * page_tokens_ + position % page_tokens_);
  }

  std::size_t page_tokens_, vocabulary_;
  std::vector<std::uint32_t> cells_;
};

}  // namespace stackgate::inference::test
