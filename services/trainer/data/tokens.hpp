// Segments as tokens. Pure; one thread's.
#pragma once
#include <cstdint>
#include <expected>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "services/model/directory/model_directory.hpp"
#include "services/model/tokenizer/encoder.hpp"
#include "services/trainer/data/example.hpp"

namespace stackgate::trainer {

/// Which tokens begin a text that no template made, and end it.
struct TextFrame {
  std::vector<std::uint32_t> prefix;     // BOS, where the tokenizer adds one
  std::optional<std::uint32_t> end{};    // eos_token of tokenizer_config.json, else the first end id
  std::vector<std::string> end_texts{};  // of all end ids, as a chat template writes them
};
TextFrame text_frame(const model::ModelDirectory& model, const tokenizer::Tokenizer& tokenizer);

class Tokens {
 public:
  Tokens(std::shared_ptr<const tokenizer::Tokenizer> tokenizer, TextFrame frame)
      : encoder_(std::move(tokenizer)), frame_(std::move(frame)) {}
  const TextFrame& frame() const { return frame_; }

  /// Each segment by itself, so that the border lies between two tokens. `framed`: with prefix and end token, which is
  /// trained with what stands before it.
  std::expected<Example, std::string> encode(std::span<const Segment> segments, bool framed);

 private:
  tokenizer::Encoder encoder_;
  TextFrame frame_;
};

/// Cuts what is behind `most` tokens; whether anything was.
bool cut(Example& example, std::size_t most);

}  // namespace stackgate::trainer
