// The text of one sequence as its tokens come, and when it ends. Source: OpenAI API reference, "stop", "max_tokens";
// vLLM, SamplingParams (stop_token_ids, include_stop_str_in_output, ignore_eos, min_tokens).
#pragma once
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "services/inference/text/finish.hpp"
#include "services/inference/text/stop_finder.hpp"
#include "services/model/tokenizer/stream_decoder.hpp"

namespace stackgate::inference {

struct TextOptions {
  std::vector<std::string> stop = {};  // whole UTF-8, none empty; not looked for in the first `min_tokens` tokens
  bool include_stop = false;           // the stop text, or the stop token's text, belongs to the answer
  std::vector<TokenId> stop_token_ids = {};
  std::vector<TokenId> end_ids = {};  // the model's
  bool ignore_eos = false;
  std::uint32_t min_tokens = 0;
  std::uint32_t max_tokens = 16;
  bool skip_special_tokens = true;
};

/// The tokenizer must outlive it. Not thread-safe.
class SequenceText {
 public:
  /// `prompt`: a character that its last tokens begin is completed by the first ones that come. `characters`: how many
  /// the text has already (with echo: the prompt's).
  SequenceText(const tokenizer::Tokenizer& tokenizer, TextOptions options, std::span<const TokenId> prompt = {},
               std::uint64_t characters = 0);

  /// One token; appends the text that may be sent now: whole UTF-8, and nothing that may still turn out to begin a stop
  /// text. Once it gives a Finish all has been appended, and no further token may come.
  std::optional<Finish> push(TokenId id, std::string& out);
  /// The end for another reason (cancelled, out of time): appends what was held back.
  void finish(std::string& out);

  /// Whether this token would end the sequence, which `min_tokens` forbids (Choosing::ending).
  std::vector<TokenId> ending_ids() const;

  /// Code points decoded so far, held back or not: the text_offset of the token that comes next.
  std::uint64_t characters() const { return characters_; }
  /// Tokens so far, those that ended it included.
  std::uint32_t tokens() const { return tokens_; }

 private:
  std::optional<Finish> add(std::string_view piece, std::string& out);

  TextOptions options_;
  tokenizer::StreamDecoder decoder_;
  StopFinder finder_;
  std::uint64_t characters_;
  std::uint32_t tokens_ = 0;
};

}  // namespace stackgate::inference
