#include "services/inference/text/sequence_text.hpp"

#include <algorithm>

#include "services/inference/text/prompt_text.hpp"

namespace stackgate::inference {
namespace {

/// A character has four bytes, each of which may be a token; special ones may stand between them.
constexpr std::size_t tokens_of_a_character = 8;

bool among(TokenId id, const std::vector<TokenId>& ids) { return std::ranges::find(ids, id) != ids.end(); }

}  // namespace

SequenceText::SequenceText(const tokenizer::Tokenizer& tokenizer, TextOptions options, std::span<const TokenId> prompt,
                           std::uint64_t characters)
    : options_(std::move(options)),
      decoder_(tokenizer, {.skip_special_tokens = options_.skip_special_tokens, .continuation = true}),
      finder_(options_.stop),
      characters_(characters) {
  std::string sent;
  for (const TokenId id : prompt.last(std::min(prompt.size(), tokens_of_a_character))) decoder_.push(id, sent);
}

std::optional<Finish> SequenceText::add(std::string_view piece, std::string& out) {
  characters_ += code_points(piece);
  if (tokens_ <= options_.min_tokens) {
    out += piece;
    return std::nullopt;
  }
  const auto found = finder_.push(piece, out);
  if (!found) return std::nullopt;
  const std::string& stop = finder_.stop(*found);
  if (options_.include_stop) out += stop;
  return Finish{FinishReason::stop, stop};
}

std::optional<Finish> SequenceText::push(TokenId id, std::string& out) {
  ++tokens_;
  const bool end = !options_.ignore_eos && among(id, options_.end_ids);
  const bool stop_token = !end && among(id, options_.stop_token_ids);
  std::string piece;
  if (!end && (!stop_token || options_.include_stop)) decoder_.push(id, piece);
  if (auto found = add(piece, out); found && !stop_token) return found;
  if (!end && !stop_token && tokens_ < options_.max_tokens) return std::nullopt;
  finish(out);
  if (stop_token) return Finish{FinishReason::stop, id};
  return Finish{end ? FinishReason::stop : FinishReason::length, {}};
}

void SequenceText::finish(std::string& out) {
  std::string piece;
  decoder_.finish(piece);
  if (!add(piece, out)) finder_.finish(out);
}

std::vector<TokenId> SequenceText::ending_ids() const {
  std::vector<TokenId> ids = options_.stop_token_ids;
  if (!options_.ignore_eos) ids.insert(ids.end(), options_.end_ids.begin(), options_.end_ids.end());
  return ids;
}

}  // namespace stackgate::inference
