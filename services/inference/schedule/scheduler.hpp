// Which tokens of which sequences the next step computes: continuous batching.
//
// Every sequence that is being continued gets its one token in each step. What is left of a step's tokens goes to
// prompts, the one that came first before the others, in pieces, so that a long prompt never stops the others. A
// sequence joins as soon as there is a place and pages for its prompt; nobody overtakes a sequence that came earlier,
// but for one whose adapter has no place in a step, and that only for a while.
// When pages run out, the sequence that came last gives its pages back and is computed again later: what was put out
// stays.
//
// Pure; not thread-safe. A step costs O(sequences).
#pragma once
#include <cstddef>
#include <cstdint>
#include <list>
#include <optional>
#include <span>
#include <unordered_map>
#include <vector>

#include "services/inference/schedule/page_pool.hpp"

namespace stackgate::inference {

using SequenceId = std::uint64_t;

struct ScheduleLimits {
  std::size_t sequences = 64;     // in a step
  std::size_t step_tokens = 512;  // rows of a step
  std::size_t waiting = 256;      // sequences without a place
  std::size_t adapters = 8;       // different ones in a step, besides the base
  std::size_t overtaken = 64;     // steps in which others may pass a sequence whose adapter has no place
};

struct NewSequence {
  SequenceId id = 0;
  std::vector<std::uint32_t> tokens;  // the prompt, one token at least
  std::size_t longest = 0;            // tokens with all that may be put out
  Beginning root = 0;                 // of PagePool
  std::uint64_t adapter = 0;          // 0: the base
  bool reuse = true;                  // false: every token of the prompt is computed, because all logits are wanted
  std::optional<SequenceId> after;    // begins when that one's prompt is computed, to share its pages
};

/// What a step computes of a sequence. The views hold until the next call of the Scheduler.
struct Piece {
  SequenceId id = 0;
  std::span<const std::uint32_t> tokens;
  std::size_t position = 0;     // of the first token
  std::span<const Page> pages;  // of all positions up to the last token
  bool last = false;            // the last known token is among them: its logits tell the next one
};

class Scheduler {
 public:
  enum class Added : std::uint8_t { yes, queue_is_full, too_long };  // more pages than there are

  Scheduler(const ScheduleLimits& limits, PagePool& pool) : limits_(limits), pool_(pool) {}

  Added add(NewSequence sequence);
  /// Ended or cancelled. Of an unknown one: nothing.
  void remove(SequenceId id);
  /// Paused, a sequence gives its place and its pages back, and counts as neither running nor waiting. When it goes on,
  /// it joins by the order of its arrival, and finds what it has published unless somebody needed those pages. Not
  /// between plan() and done(). Of an unknown one: nothing.
  void pause(SequenceId id, bool paused);
  /// The next token, after a piece that was `last`.
  void append(SequenceId id, std::uint32_t token);

  /// Empty: nothing can be computed now. Follow it by done() when the step has run, before anything else.
  std::vector<Piece> plan();
  void done();

  std::size_t running() const { return running_; }
  std::size_t waiting() const { return sequences_.size() - running_ - paused_; }
  std::uint64_t preempted() const { return preempted_; }
  /// Tokens of prompts that were found in published pages.
  std::uint64_t reused_tokens() const { return reused_; }

 private:
  struct Sequence {
    NewSequence given;  // its tokens grow
    std::size_t prompt = 0;
    std::vector<Page> pages;
    std::size_t computed = 0, planned = 0;
    std::size_t published = 0;  // pages
    Beginning beginning = 0;    // behind the published pages
    std::size_t passed = 0;     // steps in which others were let by
    bool running = false, paused = false;
    std::size_t pending() const { return given.tokens.size() - computed; }
  };
  using List = std::list<Sequence>;  // in the order of arrival

  bool has_slot(const Sequence& sequence) const;
  bool may_begin(const Sequence& sequence) const;
  /// Whether those behind it may join.
  bool join(Sequence& sequence);
  void begin(Sequence& sequence);
  bool reserve(Sequence& sequence, std::size_t tokens);
  void give_back(Sequence& sequence);
  void plan_one(Sequence& sequence, std::size_t tokens);
  void publish(Sequence& sequence);

  const ScheduleLimits limits_;
  PagePool& pool_;
  List sequences_;
  std::vector<Sequence*> planned_;  // for the step under way
  std::unordered_map<SequenceId, List::iterator> by_id_;
  std::unordered_map<std::uint64_t, std::size_t> adapters_;  // running sequences of each
  std::size_t running_ = 0, paused_ = 0;
  std::uint64_t preempted_ = 0, reused_ = 0;
};

}  // namespace stackgate::inference
