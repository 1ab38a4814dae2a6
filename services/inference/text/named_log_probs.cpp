#include "services/inference/text/named_log_probs.hpp"

namespace stackgate::inference {

PositionLogProbs named(const tokenizer::Tokenizer& tokenizer, TokenId id, std::uint64_t text_offset) {
  return {.token = tokenizer.token_name(id),
          .bytes = std::string(tokenizer.token_bytes(id)),
          .log_prob = std::nullopt,
          .top = {},
          .text_offset = text_offset};
}

PositionLogProbs named(const tokenizer::Tokenizer& tokenizer, TokenId id, const LogProbs& of,
                       std::uint64_t text_offset) {
  PositionLogProbs out = named(tokenizer, id, text_offset);
  out.log_prob = of.chosen;
  out.top.reserve(of.top.size());
  for (const TokenLogProb& each : of.top)
    out.top.push_back({tokenizer.token_name(each.id), std::string(tokenizer.token_bytes(each.id)), each.log_prob});
  return out;
}

}  // namespace stackgate::inference
