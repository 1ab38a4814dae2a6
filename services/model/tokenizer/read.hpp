// tokenizer.json to a checked description: everything that is wrong with the file at once, each fault with its place.
#pragma once
#include <string_view>

#include "services/kit/findings/finding.hpp"
#include "services/model/tokenizer/description.hpp"

namespace stackgate::tokenizer {

inline constexpr std::size_t largest_file = 64U << 20U;  // bytes
inline constexpr std::size_t most_merges = 1U << 21U;

struct TokenizerRead {
  Description description;      // to be used only when there are no errors
  validate::Findings findings;  // paths: "tokenizer.json: model.merges[17]"; at most 100
};

/// Pure; `json` may be freed afterwards. Takes some 100 ms for 128,000 tokens.
TokenizerRead read_tokenizer(std::string_view json);

}  // namespace stackgate::tokenizer
