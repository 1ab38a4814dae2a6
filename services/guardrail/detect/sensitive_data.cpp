#include "services/guardrail/detect/sensitive_data.hpp"

#include <algorithm>

#include "services/guardrail/detect/context.hpp"
#include "services/guardrail/detect/patterns.hpp"
#include "services/guardrail/detect/words.hpp"

namespace stackgate::guardrail {
namespace {

/// What lies inside of another is dropped; where two cross, the higher score keeps what both claim.
void resolve(Spans& spans) {
  std::ranges::sort(spans, [](const Span& a, const Span& b) {
    if (a.begin != b.begin) return a.begin < b.begin;
    if (a.end != b.end) return a.end > b.end;
    return a.score != b.score ? a.score > b.score : a.kind < b.kind;
  });
  std::size_t kept = 0;
  for (Span span : spans) {
    if (kept > 0) {
      Span& last = spans[kept - 1];
      if (span.end <= last.end) continue;
      if (span.begin < last.end && span.score > last.score) last.end = span.begin;
      span.begin = std::max(span.begin, last.end);
    }
    spans[kept++] = span;
  }
  spans.resize(kept);
}

/// Whether entities of several words may go through this one: see the recognisers.
bool joins(std::string_view run) {
  if (!ascii::is_lower(run[0])) return true;
  if (std::ranges::any_of(run, [](char c) { return ascii::is_digit(c) || c == '@' || c == ':'; })) return true;
  return run == "of" || is_particle(run);
}

bool is_space(char c) { return static_cast<unsigned char>(c) <= ' '; }

}  // namespace

Spans SensitiveData::find(std::string_view text) const {
  Spans out;
  std::vector<Candidate> candidates;
  if (wanted_.any()) scan(text, wanted_, candidates);
  for (const Candidate& each : candidates) {
    float score = each.score;
    if (score < 1 && has_context(text, each.begin, context_words(each.entity))) score = raised_by_context(score);
    if (score >= threshold_)
      out.push_back({each.begin, each.end, kinds_[static_cast<std::size_t>(each.entity)], score});
  }
  if (!custom_.empty()) find_custom(text, out);
  resolve(out);
  return out;
}

void SensitiveData::find_custom(std::string_view text, Spans& out) const {
  const auto search = [&](const Custom& custom) {
    std::size_t from = 0;
    while (const auto found = custom.expression.find(text, from)) {
      float score = custom.score;
      if (score < 1 && has_context(text, found->begin, std::span(*custom.context))) score = raised_by_context(score);
      if (score >= threshold_)
        out.push_back(
            {static_cast<std::uint32_t>(found->begin), static_cast<std::uint32_t>(found->end), custom.kind, score});
      from = found->end;
    }
  };
  if (const auto some = custom_set_->matching(text)) {
    for (const int index : *some) search(custom_[static_cast<std::size_t>(index)]);
  } else {
    std::ranges::for_each(custom_, search);
  }
}

std::string SensitiveData::masked(std::string_view text, const Spans& spans) const {
  return replaced(text, spans, [&](const Span& span) -> std::string_view { return masks_[span.kind]; });
}

std::size_t SensitiveData::open_tail(std::string_view text) const {
  std::size_t begin = text.size();
  const std::size_t floor = begin > longest_open_tail ? begin - longest_open_tail : 0;
  while (begin > floor && !is_space(text[begin - 1])) --begin;  // a word that may go on
  while (wanted_.any() && begin > floor && text[begin - 1] == ' ') {
    std::size_t before = begin - 1;
    while (before > floor && !is_space(text[before - 1])) --before;
    if (before == begin - 1 || !joins(text.substr(before, begin - 1 - before))) break;
    begin = before;
  }
  if (!wanted_.any()) begin = text.size();
  return tail_at_character(text, std::max(text.size() - begin, longest_custom_));
}

}  // namespace stackgate::guardrail
