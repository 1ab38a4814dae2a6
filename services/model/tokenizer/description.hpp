// A tokenizer.json that was checked, as plain data: what read.hpp makes and tokenizer.hpp compiles.
//
// The format is that of Hugging Face's tokenizers library (https://huggingface.co/docs/tokenizers/api/). Only what BPE
// models of llama, mistral and qwen kind use is here; everything else was refused by name while reading.
#pragma once
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "services/model/tokenizer/merges.hpp"
#include "services/model/tokenizer/pattern.hpp"
#include "services/model/tokenizer/vocabulary.hpp"

namespace stackgate::tokenizer {

using TokenId = std::uint32_t;

/// A text that is cut out before anything else is done: special tokens, and others that were added after training.
struct AddedToken {
  TokenId id = 0;
  std::string content;  // 1 to 512 bytes
  bool special = false;
  bool lstrip = false, rstrip = false;  // swallows the white space before, after it
  bool single_word = false;             // only where no word character is beside it
  bool normalized = false;              // looked for in the normalised text
};

struct NormalizerStep {
  enum class Kind : std::uint8_t { nfc, nfd, nfkc, nfkd, lowercase, prepend, replace, strip };
  Kind kind = Kind::nfc;
  std::string pattern;               // replace: never empty
  std::string content;               // replace: what comes in its place; prepend: what comes first
  bool left = false, right = false;  // strip
};

enum class SplitBehavior : std::uint8_t { removed, isolated, merged_with_previous, merged_with_next, contiguous };
enum class PrependScheme : std::uint8_t { always, first, never };

struct PreTokenizerStep {
  enum class Kind : std::uint8_t { split, prefix_space, metaspace };
  Kind kind = Kind::split;
  std::string pattern;  // split: as the file has it, in the syntax of Oniguruma, or a literal
  bool literal = false;
  SplitBehavior behavior = SplitBehavior::isolated;
  bool invert = false;
  std::string replacement;  // metaspace: one character
  PrependScheme scheme = PrependScheme::always;
  bool split = true;  // metaspace: each replacement character begins a piece
};

/// A step with its pattern compiled.
struct PreTokenizerStage {
  PreTokenizerStep step;
  std::optional<Pattern> pattern;  // of a split by expression
};

/// Decoders in normal form: token → bytes (replaced texts, byte tokens), joined, then stripped at the start.
struct DecoderPlan {
  struct Replacement {
    std::string pattern, content;
  };
  bool byte_level = false;
  std::vector<Replacement> replacements;  // inside each token, in order
  bool byte_fallback = false;             // <0x0A> is the byte 0x0A
  std::string strip;                      // one character, or empty
  std::uint32_t strip_start = 0;          // at most so many of it go at the start of a text
};

struct Description {
  std::vector<AddedToken> added;
  std::vector<NormalizerStep> normalizer;
  std::vector<PreTokenizerStage> pre_tokenizer;
  bool byte_level = false;  // symbols are bytes (ByteLevel pre-tokeniser and decoder); else characters
  DecoderPlan decoder;
  /// What add_special_tokens puts around a text (TemplateProcessing). A file without a template has none; a directory's
  /// reader may fill them from add_bos_token and add_eos_token of tokenizer_config.json.
  std::vector<TokenId> prefix, suffix;
  bool has_template = false;

  Vocabulary vocabulary;
  MergeTable merges;
  bool ignore_merges = false;  // a piece that is a token as a whole is taken as it is
  bool byte_fallback = false;  // a symbol that is no token becomes its bytes' tokens
  bool fuse_unknown = false;
  std::optional<TokenId> unknown;
};

}  // namespace stackgate::tokenizer
