// The small files of a model made here: config.json, tokenizer.json, tokenizer_config.json. Pure.
#pragma once
#include <cstdint>
#include <string>

#include "services/trainer/tiny/pairs.hpp"

namespace stackgate::trainer {

struct TinyShape {
  std::uint32_t hidden = 128, intermediate = 352, layers = 2, heads = 4, key_value_heads = 2;
  std::uint32_t context = 512;
};

/// Llama, its head the embedding.
std::string tiny_config(const TinyShape& shape, const Pairs& pairs);
/// Byte-level BPE; behind its symbols the special tokens <|endoftext|>, <|im_start|>, <|im_end|>.
std::string tiny_tokenizer(const Pairs& pairs);
/// The chat template of ChatML; <|im_end|> ends a text.
std::string tiny_tokenizer_config();

/// Of config.json: rows of the embedding.
std::uint32_t tiny_vocabulary(const Pairs& pairs);

}  // namespace stackgate::trainer
