// What `echo` puts before an answer: the prompt's text, and where each of its tokens begins in it. Pure.
#pragma once
#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "services/inference/sampling/parameters.hpp"
#include "services/model/tokenizer/encoder.hpp"

namespace stackgate::inference {

/// Of well-formed UTF-8.
std::uint64_t code_points(std::string_view text);

struct PromptText {
  std::string text;
  std::vector<std::uint64_t> offsets;  // for each token: code points before it
  std::uint64_t characters = 0;        // of the text
};

/// A prompt that came as text: the text as it was sent. Tokens that were added take no room.
PromptText prompt_text(std::string_view text, std::span<const tokenizer::TokenSpan> tokens);

/// A prompt that came as ids: decoded. A character that the last tokens begin is left to the answer.
PromptText prompt_text(const tokenizer::Tokenizer& tokenizer, std::span<const TokenId> ids);

}  // namespace stackgate::inference
