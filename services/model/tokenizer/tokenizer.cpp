#include "services/model/tokenizer/tokenizer.hpp"

#include <utility>

#include <fmt/format.h>

#include "services/kit/base/ascii.hpp"
#include "services/kit/base/utf8.hpp"
#include "services/model/tokenizer/byte_alphabet.hpp"
#include "services/model/tokenizer/normalize.hpp"
#include "services/model/tokenizer/stream_decoder.hpp"

namespace stackgate::tokenizer {
namespace {

constexpr std::string_view word_mark = "\xE2\x96\x81";  // U+2581

std::string escaped_bytes(std::string_view bytes) {
  std::string out = "bytes:";
  for (const char c : bytes) out += fmt::format("\\x{:02x}", static_cast<unsigned char>(c));
  return out;
}

/// "<0x0A>" → 10.
char byte_of_token(std::string_view text) {
  return static_cast<char>(ascii::hex_value(text[3]) * 16 + ascii::hex_value(text[4]));
}

}  // namespace

Tokenizer::Tokenizer(Description description) : description_(std::move(description)), model_(description_) {
  std::vector<AddedTokenFinder::Entry> raw, normalized;
  Normalizer normalizer;
  for (const AddedToken& token : description_.added) {
    if (!token.normalized || description_.normalizer.empty()) {
      raw.push_back({token.content, token});
    } else {
      const Slice text = normalizer.run(description_.normalizer, {token.content}, false);
      normalized.push_back({std::string(text.text), token});
    }
  }
  raw_added_ = AddedTokenFinder(std::move(raw));
  normalized_added_ = AddedTokenFinder(std::move(normalized));
  for (TokenId id = 0; id < vocab_size(); ++id)
    if (is_special(id)) special_ids_.push_back(id);
  const DecoderPlan& plan = description_.decoder;
  if (!plan.replacements.empty() || plan.byte_fallback) decode_vocabulary();
  words_apart_ = description_.pre_tokenizer.empty() && !description_.ignore_merges && merges_stay_within_words();
}

void Tokenizer::decode_vocabulary() {
  const DecoderPlan& plan = description_.decoder;
  Rewritten buffer;
  std::string text, next;
  decoded_offsets_.push_back(0);
  for (TokenId id = 0; id < vocab_size(); ++id) {
    text = description_.vocabulary.bytes(id);
    for (const auto& [pattern, content] : plan.replacements) {
      next = replace_all({text}, pattern, content, buffer, false).text;
      text.swap(next);
    }
    if (plan.byte_fallback && description_.vocabulary.has(id, Vocabulary::byte_token)) text = byte_of_token(text);
    decoded_ += text;
    decoded_offsets_.push_back(static_cast<std::uint32_t>(decoded_.size()));
  }
  decoded_.shrink_to_fit();
}

bool Tokenizer::merges_stay_within_words() const {
  if (!description_.vocabulary.find(word_mark)) return false;
  for (TokenId id = 0; id < vocab_size(); ++id) {
    if (!description_.vocabulary.has(id, Vocabulary::in_model)) continue;
    std::string_view text = description_.vocabulary.bytes(id);
    while (text.starts_with(word_mark)) text.remove_prefix(word_mark.size());
    if (text.contains(word_mark)) return false;
  }
  return true;
}

std::string_view Tokenizer::token_bytes(TokenId id) const {
  if (decoded_offsets_.empty()) return description_.vocabulary.bytes(id);
  if (id >= vocab_size()) return {};
  return std::string_view(decoded_).substr(decoded_offsets_[id], decoded_offsets_[id + 1] - decoded_offsets_[id]);
}

std::string Tokenizer::decode(std::span<const TokenId> ids, DecodeOptions options) const {
  std::string out;
  StreamDecoder decoder(*this, options);
  for (const TokenId id : ids) decoder.push(id, out);
  decoder.finish(out);
  return out;
}

std::string Tokenizer::token_name(TokenId id) const {
  const Vocabulary& vocabulary = description_.vocabulary;
  if (!vocabulary.has(id, Vocabulary::present)) return fmt::format("<id {}>", id);
  const std::string_view bytes = token_bytes(id);
  const bool fallback = description_.decoder.byte_fallback && vocabulary.has(id, Vocabulary::byte_token);
  return fallback || !utf8::is_valid(bytes) ? escaped_bytes(bytes) : std::string(bytes);
}

std::string Tokenizer::token_text(TokenId id) const {
  const Vocabulary& vocabulary = description_.vocabulary;
  const std::string_view bytes = vocabulary.bytes(id);
  if (!description_.byte_level || (vocabulary.flags(id) & (Vocabulary::literal | Vocabulary::added)) != 0)
    return std::string(bytes);
  return alphabet_text(bytes);
}

std::optional<TokenId> Tokenizer::token_id(std::string_view text) const {
  for (const AddedToken& token : description_.added)
    if (token.content == text) return token.id;
  if (!description_.byte_level) return description_.vocabulary.find(text);
  std::string bytes;
  if (!utf8::is_valid(text) || !append_alphabet_bytes(text, bytes)) return std::nullopt;
  return description_.vocabulary.find(bytes);
}

std::size_t Tokenizer::memory_bytes() const {
  return description_.vocabulary.memory_bytes() + description_.merges.memory_bytes() + decoded_.capacity() +
         decoded_offsets_.capacity() * sizeof(decoded_offsets_[0]);
}

}  // namespace stackgate::tokenizer
