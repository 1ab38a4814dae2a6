// Decoding token by token, for answers that are sent while they come into being.
#pragma once
#include <cstdint>
#include <string>

#include "services/model/tokenizer/tokenizer.hpp"
#include "services/model/tokenizer/utf8_mender.hpp"

namespace stackgate::tokenizer {

/// What push() and finish() append is, joined, what Tokenizer::decode() gives for the same ids; each piece is whole
/// UTF-8. The tokenizer must outlive it. Not thread-safe.
class StreamDecoder {
 public:
  explicit StreamDecoder(const Tokenizer& tokenizer, DecodeOptions options = {});

  /// Appends the text that is complete now: nothing while a character still lacks bytes.
  void push(TokenId id, std::string& out);
  /// The end: a character that is still incomplete becomes U+FFFD.
  void finish(std::string& out) { mender_.finish(out); }
  /// Whether bytes of an incomplete character wait.
  bool holds_back() const { return mender_.holds_back(); }

 private:
  const Tokenizer* tokenizer_;
  DecodeOptions options_;
  std::uint32_t strip_left_ = 0;  // characters that may still go at the start
  Utf8Mender mender_;
};

}  // namespace stackgate::tokenizer
