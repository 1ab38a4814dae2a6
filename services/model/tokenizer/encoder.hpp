// Text to token ids.
#pragma once
#include <cstdint>
#include <expected>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "services/model/tokenizer/normalize.hpp"
#include "services/model/tokenizer/piece_cache.hpp"
#include "services/model/tokenizer/pretokenize.hpp"
#include "services/model/tokenizer/tokenizer.hpp"

namespace stackgate::tokenizer {

inline constexpr std::size_t longest_text = 8U << 20U;  // bytes

struct EncodeOptions {
  /// What the template of the file puts around a text. A chat template writes these tokens itself: false there.
  bool add_special_tokens = true;
};

/// A token and the bytes of the text that it stands for. Tokens that the text does not hold (template, prefix space)
/// are empty there; a token of a byte-level model may begin inside a character.
struct TokenSpan {
  TokenId id = 0;
  std::uint32_t begin = 0, end = 0;
};

struct EncodeError {
  enum class Reason : std::uint8_t { too_long, not_utf8, too_many_steps };
  Reason reason = Reason::too_long;
  std::string problem;  // "the text is longer than 8 MiB"
  std::string fix;
};

/// One thread's encoder: its cache of pieces (`cache_entries` of 64 bytes, a power of two) and buffers belong to it.
/// Not thread-safe; any number of them share one tokenizer.
class Encoder {
 public:
  static constexpr std::size_t usual_cache = 16384;
  explicit Encoder(std::shared_ptr<const Tokenizer> tokenizer, std::size_t cache_entries = usual_cache);

  std::expected<std::vector<TokenId>, EncodeError> encode(std::string_view text, EncodeOptions options = {});
  /// The same tokens with their places. Does not use the cache.
  std::expected<std::vector<TokenSpan>, EncodeError> encode_with_spans(std::string_view text,
                                                                       EncodeOptions options = {});

 private:
  std::expected<void, EncodeError> run(std::string_view text, EncodeOptions options);
  bool section(const Slice& text);
  bool plain(const Slice& text);
  bool words(const Slice& text);
  void piece(const Slice& text);
  void emit(TokenId id, std::uint32_t begin, std::uint32_t end);

  std::shared_ptr<const Tokenizer> tokenizer_;
  Normalizer normalizer_;
  PreTokenizer pre_tokenizer_;
  PieceCache cache_;
  BpeModel::Scratch scratch_;
  bool want_spans_ = false;
  std::vector<TokenId> ids_;
  std::vector<TokenSpan> spans_;
};

}  // namespace stackgate::tokenizer
