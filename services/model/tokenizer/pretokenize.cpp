#include "services/model/tokenizer/pretokenize.hpp"

#include <algorithm>

#include "services/model/tokenizer/normalize.hpp"
#include "services/model/tokenizer/unicode.hpp"

namespace stackgate::tokenizer {

bool PreTokenizer::find_parts(const PreTokenizerStage& stage, std::string_view text, std::vector<Part>& parts) {
  parts.clear();
  const PreTokenizerStep& step = stage.step;
  const bool metaspace = step.kind == PreTokenizerStep::Kind::metaspace;
  if (stage.pattern) {
    if (!find_matches(*stage.pattern, text, parts)) return false;
  } else {
    const std::string_view wanted = metaspace ? step.replacement : step.pattern;
    std::size_t at = 0;
    for (std::size_t found = text.find(wanted); found != std::string_view::npos; found = text.find(wanted, at)) {
      if (found > at) parts.push_back({at, found, false});
      at = found + wanted.size();
      parts.push_back({found, at, true});
    }
    if (at < text.size()) parts.push_back({at, text.size(), false});
  }
  if (step.invert)
    for (Part& part : parts) part.match = !part.match;
  arrange(metaspace ? SplitBehavior::merged_with_next : step.behavior, parts);
  return true;
}

/// An empty match right behind another one does not count, as in the regex library that Hugging Face uses.
bool PreTokenizer::find_matches(const Pattern& pattern, std::string_view text, std::vector<Part>& parts) {
  std::size_t at = 0;  // the end of the last match
  for (std::size_t from = 0; from <= text.size();) {
    Match match;
    const Matcher::Result result = matcher_.find(pattern, text, from, match);
    if (result == Matcher::Result::too_many_steps) return false;
    if (result == Matcher::Result::none) break;
    const bool empty = match.begin == match.end;
    from = match.end;
    if (empty) from += from < text.size() ? character_at(text, from).length : 1;
    if (empty && match.end == at && !parts.empty()) continue;
    if (match.begin > at) parts.push_back({at, match.begin, false});
    parts.push_back({match.begin, match.end, true});
    at = match.end;
  }
  if (at < text.size()) parts.push_back({at, text.size(), false});
  return true;
}

void PreTokenizer::arrange(SplitBehavior behavior, std::vector<Part>& parts) {
  if (behavior == SplitBehavior::isolated) return;
  if (behavior == SplitBehavior::removed) {
    std::erase_if(parts, [](const Part& part) { return part.match; });
    return;
  }
  const bool backwards = behavior == SplitBehavior::merged_with_next;
  if (backwards) std::ranges::reverse(parts);
  std::size_t kept = 0;
  bool previous_match = false;
  for (const Part& part : parts) {
    const bool joins = behavior == SplitBehavior::contiguous ? kept > 0 && part.match == parts[kept - 1].match
                                                             : kept > 0 && part.match && !previous_match;
    previous_match = part.match;
    if (!joins) {
      parts[kept++] = part;
    } else if (backwards) {
      parts[kept - 1].begin = part.begin;
    } else {
      parts[kept - 1].end = part.end;
    }
  }
  parts.resize(kept);
  if (backwards) std::ranges::reverse(parts);
}

Slice PreTokenizer::metaspace(const PreTokenizerStep& step, const Slice& piece, Rewritten& out) const {
  const bool prefixed = piece.text.starts_with(step.replacement) || piece.text.starts_with(' ');
  const bool prepend = !prefixed && (step.scheme == PrependScheme::always ||
                                     (step.scheme == PrependScheme::first && piece.offset(0) == 0));
  if (!prepend) return replace_all(piece, " ", step.replacement, out, want_origin_);
  out.begin(want_origin_);
  out.put(piece, 0, step.replacement);
  std::size_t at = 0;
  for (std::size_t found = piece.text.find(' '); found != std::string_view::npos; found = piece.text.find(' ', at)) {
    out.copy(piece, at, found);
    out.put(piece, found, step.replacement);
    at = found + 1;
  }
  out.copy(piece, at, piece.text.size());
  return out.finish(piece);
}

Slice PreTokenizer::prefix_space(const Slice& piece, Rewritten& out) const {
  if (piece.text.starts_with(' ')) return piece;
  out.begin(want_origin_);
  out.put(piece, 0, " ");
  out.copy(piece, 0, piece.text.size());
  return out.finish(piece);
}

}  // namespace stackgate::tokenizer
