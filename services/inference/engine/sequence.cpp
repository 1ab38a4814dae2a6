#include "services/inference/engine/sequence.hpp"

#include <algorithm>
#include <cmath>
#include <utility>

#include "services/kit/base/try.hpp"

namespace stackgate::inference {
namespace {

TextOptions text_options(const Job& job, const SequenceSpec& spec) {
  TextOptions out = job.text;
  out.max_tokens = spec.max_tokens;
  return out;
}

std::optional<Constraint> constraint_of(const Job& job, const Vocabulary& vocabulary) {
  if (!job.grammar) return std::nullopt;
  return Constraint(job.grammar, vocabulary.trie, job.text.end_ids);
}

}  // namespace

Sequence::Sequence(const Job& job, std::uint32_t index, const Vocabulary& vocabulary)
    : job_(job),
      spec_(job.sequences[index]),
      vocabulary_(vocabulary),
      constraint_(constraint_of(job, vocabulary)),
      text_(*vocabulary.tokenizer, text_options(job, spec_), *spec_.prompt, spec_.echo ? spec_.echo->characters : 0),
      ending_(text_.ending_ids()) {
  if (job.sampling.penalizes()) counts_.emplace(*spec_.prompt);
  if (job.prompt_log_probs)
    pending_.prompt_log_probs.push_back(
        named(*vocabulary.tokenizer, spec_.prompt->front(), spec_.echo->offsets.front()));
  pending_.sequence = index;
}

std::uint32_t Sequence::wanted_logits(std::size_t begin, std::size_t count, bool last) const {
  if (wants_states()) return 0;
  const bool of_prompt = job_.prompt_log_probs && begin + 1 < spec_.prompt->size() && reported_ < spec_.prompt->size();
  if (of_prompt) return static_cast<std::uint32_t>(count);
  return last && spec_.max_tokens > 0 ? 1 : 0;
}

void Sequence::begin(std::size_t position) {
  if (!std::exchange(begun_, true)) pending_.cached_tokens = static_cast<std::uint32_t>(position);
}

void Sequence::take_prompt(std::size_t position, std::span<const float> logits) {
  if (!job_.prompt_log_probs || position + 1 != reported_) return;
  const TokenId id = (*spec_.prompt)[reported_];
  pending_.prompt_log_probs.push_back(named(
      *vocabulary_.tokenizer, id, log_probs(logits, id, job_.log_probs.value_or(0)), spec_.echo->offsets[reported_]));
  ++reported_;
}

std::expected<std::optional<TokenId>, Error> Sequence::take(std::size_t position, std::span<const float> logits,
                                                            Sampler& sampler) {
  if (position + 1 < spec_.prompt->size()) take_prompt(position, logits);
  if (position + 1 != known_tokens() || spec_.max_tokens == 0) return std::nullopt;
  Choosing how{.parameters = job_.sampling,
               .draw = {.seed = job_.seed, .choice = spec_.choice, .position = text_.tokens()},
               .counts = counts_ ? &*counts_ : nullptr,
               .ending = ending_};
  if (constraint_) how.allowed = constraint_->allowed();
  const TokenId id = TRY(sampler.choose(logits, how));
  add(id, logits);
  return id;
}

/// Behind a call's mark the call's grammar holds, until a whole one is written.
void Sequence::watch_for_call(TokenId id) {
  if (in_call_ && constraint_->complete()) {
    constraint_.reset();
    in_call_ = false;
  } else if (!constraint_ && id < vocabulary_.trie->size()) {
    since_mark_ += vocabulary_.trie->bytes(id);
    const std::size_t mark = since_mark_.find(job_.call_mark);
    if (mark == std::string::npos) {
      const std::size_t kept = std::min(since_mark_.size(), job_.call_mark.size() - 1);
      since_mark_.erase(0, since_mark_.size() - kept);
      return;
    }
    constraint_.emplace(job_.call_grammar, vocabulary_.trie, job_.text.end_ids);
    in_call_ = constraint_->accept(std::string_view(since_mark_).substr(mark + job_.call_mark.size()));
    since_mark_.clear();
    if (!in_call_ || constraint_->complete()) {  // no call, or whole with its mark in one token
      constraint_.reset();
      in_call_ = false;
    }
  }
}

void Sequence::add(TokenId id, std::span<const float> logits) {
  if (counts_) counts_->add_output(id);
  if (constraint_) (void)constraint_->accept(id);
  if (job_.log_probs || job_.ranked) {
    const LogProbs of = log_probs(logits, id, job_.log_probs.value_or(0));
    pending_.log_prob += static_cast<double>(of.chosen);
    if (job_.log_probs) pending_.log_probs.push_back(named(*vocabulary_.tokenizer, id, of, text_.characters()));
  }
  ++pending_.tokens;
  if (auto finish = text_.push(id, pending_.text)) return end(std::move(*finish));
  if (job_.call_grammar && !job_.grammar) return watch_for_call(id);
  if (!constraint_ || !constraint_->finished()) return;
  text_.finish(pending_.text);
  end({});
}

void Sequence::take_state(std::size_t position, std::span<const float> state) {
  if (position != states_) return;
  if (job_.last_state) state_sum_.clear();
  state_sum_.resize(state.size());
  for (std::size_t i = 0; i < state.size(); ++i) state_sum_[i] += static_cast<double>(state[i]);
  ++states_;
}

void Sequence::all_computed() {
  if (wants_states()) {
    double squares = 0;
    for (const double each : state_sum_) squares += each * each;
    const double scale = squares > 0 ? 1 / std::sqrt(squares) : 0;
    for (const double each : state_sum_) pending_.embedding.push_back(static_cast<float>(each * scale));
    end({});
  } else if (spec_.max_tokens == 0) {
    end({.reason = FinishReason::length});
  }
}

void Sequence::end(Finish finish) {
  finished_ = true;
  pending_.finish = std::move(finish);
}

Progress Sequence::progress() {
  Progress next{.sequence = pending_.sequence};
  return std::exchange(pending_, std::move(next));
}

}  // namespace stackgate::inference
