#include "services/inference/text/prompt_text.hpp"

#include <algorithm>

#include "services/model/tokenizer/stream_decoder.hpp"

namespace stackgate::inference {

std::uint64_t code_points(std::string_view text) {
  return static_cast<std::uint64_t>(
      std::ranges::count_if(text, [](char c) { return (static_cast<unsigned char>(c) & 0xC0U) != 0x80U; }));
}

PromptText prompt_text(std::string_view text, std::span<const tokenizer::TokenSpan> tokens) {
  PromptText out{.text = std::string(text), .offsets = {}, .characters = 0};
  out.offsets.reserve(tokens.size());
  std::size_t at = 0;
  std::uint64_t characters = 0;
  for (const tokenizer::TokenSpan& token : tokens) {
    // The second token of a character begins inside of it: it has the character's own offset.
    std::size_t begin = std::clamp<std::size_t>(token.begin, at, text.size());
    while (begin > at && begin < text.size() && (static_cast<unsigned char>(text[begin]) & 0xC0U) == 0x80U) --begin;
    characters += code_points(text.substr(at, begin - at));
    at = begin;
    out.offsets.push_back(characters);
  }
  out.characters = characters + code_points(text.substr(at));
  return out;
}

PromptText prompt_text(const tokenizer::Tokenizer& tokenizer, std::span<const TokenId> ids) {
  PromptText out;
  tokenizer::StreamDecoder decoder(tokenizer);
  out.offsets.reserve(ids.size());
  for (const TokenId id : ids) {
    out.offsets.push_back(out.characters);
    const std::size_t before = out.text.size();
    decoder.push(id, out.text);
    out.characters += code_points(std::string_view(out.text).substr(before));
  }
  return out;
}

}  // namespace stackgate::inference
