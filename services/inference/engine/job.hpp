// What the engine is asked for, and what it says while it works.
#pragma once
#include <chrono>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "services/inference/constrain/grammar.hpp"
#include "services/inference/sampling/parameters.hpp"
#include "services/inference/text/named_log_probs.hpp"
#include "services/inference/text/prompt_text.hpp"
#include "services/inference/text/sequence_text.hpp"

namespace stackgate::model {
struct AdapterWeights;
}

namespace stackgate::inference {

/// Which weights answer. `key` is one number for each version of an adapter, never used again; 0 is the base.
struct AdapterUse {
  std::uint64_t key = 0;
  std::shared_ptr<const model::AdapterWeights> weights;
  std::string name{};  // as figures show it
};

/// One choice of an answer, or one input to embed.
struct SequenceSpec {
  std::shared_ptr<const std::vector<TokenId>> prompt;  // one token at least
  std::uint32_t choice = 0;                            // which draw of this prompt
  std::uint32_t max_tokens = 0;                        // 0: the prompt alone is computed
  std::shared_ptr<const PromptText> echo;  // the prompt's text where it stands before the answer; one place per token
};

/// What came of a sequence since the last time.
struct Progress {
  std::uint32_t sequence = 0;  // index into Job::sequences
  std::string text;
  std::vector<PositionLogProbs> log_probs;         // of new tokens, when they were asked for
  std::vector<PositionLogProbs> prompt_log_probs;  // all of the prompt's, with the first progress
  std::optional<Finish> finish;                    // the last progress of this sequence
  std::uint32_t tokens = 0;                        // new ones
  std::uint32_t cached_tokens = 0;                 // of the prompt, found computed; with the first progress
  double log_prob = 0;                             // sum over the new tokens; only where Job::ranked
  std::vector<float> embedding;                    // of width Config::hidden, length 1
  // With the last progress: when its first step began, and when its first token was chosen. Nothing: never.
  std::optional<std::chrono::steady_clock::time_point> begun{}, first_token{};
};

enum class JobFault : std::uint8_t { deadline, stopping, broken };

struct JobFailure {
  JobFault fault = JobFault::broken;
  std::string message;
};

/// The functions are called on the engine's thread, one at a time, and must not block.
struct JobEvents {
  /// False: the client is behind. What is computed already still comes; nothing more before Engine::resume().
  std::move_only_function<bool(Progress&&)> progress;
  /// Instead of everything that has not come yet.
  std::move_only_function<void(JobFailure&&)> failed;
};

/// One request.
struct Job {
  enum class Kind : std::uint8_t { generate, embed } kind = Kind::generate;
  std::vector<SequenceSpec> sequences;  // choices of one prompt stand together and share its vector
  AdapterUse adapter;
  SamplingParameters sampling;
  TextOptions text;  // but max_tokens
  std::uint64_t seed = 0;
  std::optional<std::uint32_t> log_probs;  // how many of the best besides the chosen token
  bool prompt_log_probs = false;           // as many of the prompts' tokens; each sequence has an echo
  bool stream = false;                     // progress after each step, not only at a sequence's end
  bool last_state = false;                 // an embedding is the last token's state, instead of the mean of all
  bool ranked = false;                     // Progress::log_prob is wanted
  std::string cache_salt;                  // what is computed is found again by jobs with the same one alone
  std::shared_ptr<const Grammar> grammar;  // what the text must be
  /// Without one: what must stand behind each `call_mark` of the text, which goes on as it likes when that is whole.
  std::shared_ptr<const Grammar> call_grammar;
  std::string call_mark;
  std::chrono::steady_clock::time_point deadline = std::chrono::steady_clock::time_point::max();
  JobEvents events;
};

using JobId = std::uint64_t;

}  // namespace stackgate::inference
