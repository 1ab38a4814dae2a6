// tokenizer_config.json: special tokens, chat templates, what is put around a text. The file may be absent.
// Source: transformers' PreTrainedTokenizerBase and published files.
#pragma once
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "services/kit/findings/finding.hpp"
#include "services/model/tokenizer/description.hpp"

namespace stackgate::model {

/// A chat template as it is written; "default" unless the file has a list of them.
struct NamedTemplate {
  std::string name;
  std::string source;
};

/// What templates may name: bos_token and its kin.
struct SpecialTokens {
  std::vector<std::pair<std::string, std::string>> texts;  // "eos_token" → "</s>", in the file's order
  std::vector<std::string> additional;                     // additional_special_tokens

  /// nullptr for one that there is not.
  const std::string* find(std::string_view name) const;
};

struct TokenizerConfig {
  SpecialTokens special_tokens;
  bool add_bos = false, add_eos = false;    // as the tokenizer's class has it where the file says nothing
  std::vector<NamedTemplate> templates;     // unique names, at most 16
  std::optional<std::uint32_t> max_length;  // model_max_length in tokens, where it is a true limit
};

struct TokenizerConfigRead {
  TokenizerConfig config;       // to be used only when there are no errors
  validate::Findings findings;  // paths: "tokenizer_config.json: chat_template[1].name"
};

inline constexpr std::size_t largest_tokenizer_config = 16U << 20U;  // bytes
inline constexpr std::size_t largest_chat_template = 1U << 20U;      // bytes

/// Pure; `json` may be freed afterwards.
TokenizerConfigRead read_tokenizer_config(std::string_view json);

/// The id of a token by its text: an added one, else one of the vocabulary.
std::optional<tokenizer::TokenId> id_of(const tokenizer::Description& tokenizer, std::string_view text);

/// add_bos and add_eos as the tokenizer's prefix and suffix; a template in tokenizer.json has said it already. A
/// finding for each token that is to be added and not in the tokenizer.
validate::Findings surround(const TokenizerConfig& config, tokenizer::Description& tokenizer);

}  // namespace stackgate::model
