// One sequence while it is computed: its rows of logits become tokens, text and log-probabilities. Pure.
#pragma once
#include <cstdint>
#include <expected>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "services/inference/constrain/constraint.hpp"
#include "services/inference/engine/job.hpp"
#include "services/inference/sampling/sampler.hpp"
#include "services/model/tokenizer/tokenizer.hpp"

namespace stackgate::inference {

/// What all sequences share.
struct Vocabulary {
  std::shared_ptr<const tokenizer::Tokenizer> tokenizer;
  std::shared_ptr<const TokenTrie> trie;  // needed by jobs with a grammar
};

/// Belongs to the engine's thread. `job` and `vocabulary` must outlive it.
class Sequence {
 public:
  Sequence(const Job& job, std::uint32_t index, const Vocabulary& vocabulary);

  const SequenceSpec& spec() const { return spec_; }
  /// Of how many of a piece's last tokens the logits are wanted. `begin`: position of its first token; `last`: its last
  /// token is the last one known.
  std::uint32_t wanted_logits(std::size_t begin, std::size_t count, bool last) const;
  bool wants_states() const { return job_.kind == Job::Kind::embed; }

  /// The logits behind the token at `position`. Returns the next token when it was chosen from them. The error: the
  /// model gives no numbers, or no token is allowed.
  std::expected<std::optional<TokenId>, Error> take(std::size_t position, std::span<const float> logits,
                                                    Sampler& sampler);
  /// The last layer's state of the token at `position`.
  void take_state(std::size_t position, std::span<const float> state);
  /// All known tokens are computed: the end of a sequence that chooses none.
  void all_computed();

  /// Where its first piece begins: what was found computed of the prompt. Later calls change nothing.
  void begin(std::size_t position);

  /// What came since the last call.
  Progress progress();
  bool finished() const { return finished_; }

 private:
  std::size_t known_tokens() const { return spec_.prompt->size() + text_.tokens(); }
  void take_prompt(std::size_t position, std::span<const float> logits);
  void add(TokenId id, std::span<const float> logits);
  void end(Finish finish);
  void watch_for_call(TokenId id);

  const Job& job_;
  const SequenceSpec& spec_;
  const Vocabulary& vocabulary_;
  std::optional<TokenCounts> counts_;
  std::optional<Constraint> constraint_;
  std::string since_mark_;  // the text's last bytes, where a call's mark may stand
  bool in_call_ = false;    // constraint_ is the call's
  SequenceText text_;
  const std::vector<TokenId> ending_;
  std::size_t reported_ = 1;       // of the prompt's tokens, with their log-probabilities: it may be computed twice
  std::vector<double> state_sum_;  // of `states_` tokens
  std::size_t states_ = 0;
  bool begun_ = false, finished_ = false;
  Progress pending_;
};

}  // namespace stackgate::inference
