// The pre-tokenisers of a tokenizer.json: a piece of text into the pieces that are merged each for itself.
#pragma once
#include <cstddef>
#include <string_view>
#include <vector>

#include "services/model/tokenizer/description.hpp"
#include "services/model/tokenizer/pattern.hpp"
#include "services/model/tokenizer/slice.hpp"

namespace stackgate::tokenizer {

/// Memory that one call after the other uses. Not thread-safe.
class PreTokenizer {
 public:
  explicit PreTokenizer(const std::vector<PreTokenizerStage>& stages) : stages_(stages), levels_(stages.size()) {}

  /// Calls `take(const Slice&)` for each piece in order; none is empty. False when a pattern took too many steps.
  template <class Take>
  bool run(const Slice& piece, bool want_origin, Take&& take) {
    want_origin_ = want_origin;
    return from(0, piece, take);
  }

 private:
  struct Part {
    std::size_t begin, end;
    bool match;
  };
  struct Level {
    std::vector<Part> parts;
    Rewritten text;
  };

  template <class Take>
  bool from(std::size_t stage, const Slice& piece, Take& take);
  /// Fills the level's parts with matches and what is between them. False: too many steps.
  bool find_parts(const PreTokenizerStage& stage, std::string_view text, std::vector<Part>& parts);
  bool find_matches(const Pattern& pattern, std::string_view text, std::vector<Part>& parts);
  static void arrange(SplitBehavior behavior, std::vector<Part>& parts);
  Slice metaspace(const PreTokenizerStep& step, const Slice& piece, Rewritten& out) const;
  Slice prefix_space(const Slice& piece, Rewritten& out) const;

  const std::vector<PreTokenizerStage>& stages_;
  std::vector<Level> levels_;
  Matcher matcher_;
  bool want_origin_ = false;
};

template <class Take>
bool PreTokenizer::from(std::size_t stage, const Slice& piece, Take& take) {
  if (piece.text.empty()) return true;
  if (stage == stages_.size()) {
    take(piece);
    return true;
  }
  const PreTokenizerStep& step = stages_[stage].step;
  Level& level = levels_[stage];
  Slice at = piece;
  if (step.kind == PreTokenizerStep::Kind::prefix_space) return from(stage + 1, prefix_space(piece, level.text), take);
  if (step.kind == PreTokenizerStep::Kind::metaspace) {
    at = metaspace(step, piece, level.text);
    if (!step.split) return from(stage + 1, at, take);
  }
  if (!find_parts(stages_[stage], at.text, level.parts)) return false;
  for (const Part& part : level.parts)
    if (!from(stage + 1, at.part(part.begin, part.end), take)) return false;
  return true;
}

}  // namespace stackgate::tokenizer
