// A prompt, or what is to be embedded: a text or token ids, one of them or a list.
#pragma once
#include <string>
#include <variant>
#include <vector>

#include "services/inference/api/fields.hpp"
#include "services/inference/api/limits.hpp"

namespace stackgate::inference {

/// Text is tokenised with the template's special tokens; ids are taken as they are.
using Prompt = std::variant<std::string, std::vector<TokenId>>;

/// Empty only when something is wrong.
std::vector<Prompt> read_prompts(Fields& fields, std::string_view key, const ApiLimits& limits);

}  // namespace stackgate::inference
