// A tokenizer that is ready for use: what is known of each token, and decoding. Encoding is encoder.hpp.
//
// Made from a description that read.hpp has checked; const from then on, shared between threads by shared_ptr.
#pragma once
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "services/model/tokenizer/added_tokens.hpp"
#include "services/model/tokenizer/bpe.hpp"
#include "services/model/tokenizer/description.hpp"

namespace stackgate::tokenizer {

struct DecodeOptions {
  bool skip_special_tokens = true;
  /// The text goes on from one that was decoded before: the first token's blank stays, where a decoder of SentencePiece
  /// kind strips it from a whole text.
  bool continuation = false;
};

class Tokenizer {
 public:
  explicit Tokenizer(Description description);
  Tokenizer(const Tokenizer&) = delete;  // the model points into the description
  Tokenizer& operator=(const Tokenizer&) = delete;
  ~Tokenizer() = default;

  /// Text of any ids, always well-formed UTF-8. Ids that no token has, such as those of padded embeddings, give
  /// nothing.
  std::string decode(std::span<const TokenId> ids, DecodeOptions options = {}) const;

  /// The bytes that a token adds to a text; views into this object.
  std::string_view token_bytes(TokenId id) const;

  /// What a token is called in log-probabilities: its text where its bytes are whole UTF-8, else bytes:\xe2\x98, in
  /// lower case; byte tokens (<0x41>) are always bytes:\x41, so that no name is that of another token. "<id 151700>"
  /// for an id without a token.
  std::string token_name(TokenId id) const;

  /// The token as tokenizer.json writes it ("Ġthe", "▁the", "<|im_end|>"); empty for an id without a token.
  std::string token_text(TokenId id) const;

  /// The id of a token as tokenizer.json writes it.
  std::optional<TokenId> token_id(std::string_view text) const;

  bool is_special(TokenId id) const { return description_.vocabulary.has(id, Vocabulary::special); }
  /// Ids of special tokens, ascending.
  const std::vector<TokenId>& special_ids() const { return special_ids_; }
  /// One more than the largest id. A model's embeddings may have more rows.
  std::uint32_t vocab_size() const { return description_.vocabulary.size(); }

  /// Bytes of vocabulary, merges and decoded texts.
  std::size_t memory_bytes() const;

  const Description& description() const { return description_; }

 private:
  friend class Encoder;
  void decode_vocabulary();
  bool merges_stay_within_words() const;

  Description description_;
  BpeModel model_;
  AddedTokenFinder raw_added_, normalized_added_;
  std::vector<TokenId> special_ids_;
  /// Without pre-tokenisers: no token has U+2581 behind another character, so that a text may be cut before each run of
  /// them and gives the same tokens.
  bool words_apart_ = false;
  std::string decoded_;  // of each id, unless the vocabulary's bytes are it
  std::vector<std::uint32_t> decoded_offsets_;
};

}  // namespace stackgate::tokenizer
