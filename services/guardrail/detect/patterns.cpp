#include "services/guardrail/detect/patterns.hpp"

#include <algorithm>
#include <memory>

#include <fmt/format.h>

namespace stackgate::guardrail {
namespace {

validate::Finding fault(std::string path, std::string_view source, std::string_view reason) {
  return {.rule = "guardrail-pattern",
          .path = std::move(path),
          .value = std::string(source.substr(0, 80)),
          .problem = fmt::format("is no regular expression that is served: {}", reason),
          .fix = "write it in RE2's syntax, which has no look-ahead, look-behind and back references"};
}

}  // namespace

std::size_t tail_at_character(std::string_view text, std::size_t most) {
  if (most >= text.size()) return text.size();
  std::size_t begin = text.size() - most;
  while (begin < text.size() && (text[begin] & '\xC0') == '\x80') ++begin;
  return text.size() - begin;
}

Spans without_overlaps(Spans spans) {
  std::ranges::sort(spans, [](const Span& a, const Span& b) {
    return a.begin != b.begin ? a.begin < b.begin : a.end != b.end ? a.end > b.end : a.kind < b.kind;
  });
  std::size_t end = 0;
  std::erase_if(spans, [&](const Span& span) {
    if (span.begin < end) return true;
    end = span.end;
    return false;
  });
  return spans;
}

std::expected<Patterns, validate::Findings> Patterns::compile(const PatternsOptions& options, std::string_view path) {
  validate::Findings findings;
  Patterns out;
  if (options.patterns.size() > most_patterns)
    findings.push_back({.rule = "guardrail-pattern",
                        .path = fmt::format("{}.patterns", path),
                        .problem = fmt::format("has {} patterns", options.patterns.size()),
                        .fix = fmt::format("write at most {}; join them by |", most_patterns)});
  const ExpressionFlags flags{.case_insensitive = options.case_insensitive};
  for (std::size_t i = 0; i < std::min(options.patterns.size(), most_patterns); ++i) {
    auto expression = Expression::compile(options.patterns[i], flags);
    if (!expression) {
      findings.push_back(fault(fmt::format("{}.patterns[{}]", path, i), options.patterns[i], expression.error()));
      continue;
    }
    if (const auto longest = expression->longest(); longest && *longest <= longest_open_tail) {
      out.longest_ = std::max(out.longest_, *longest);
    } else {
      out.unbounded_.push_back(static_cast<std::uint16_t>(i));
      out.longest_ = longest_open_tail;
    }
    out.expressions_.push_back(*std::move(expression));
  }
  if (!findings.empty()) return std::unexpected(std::move(findings));
  if (options.patterns.size() > 1) out.set_ = std::make_shared<const ExpressionSet>(options.patterns, flags);
  return out;
}

std::vector<std::uint16_t> Patterns::matching(std::string_view text) const {
  std::vector<std::uint16_t> out;
  if (set_ != nullptr)
    if (const auto some = set_->matching(text)) {
      for (const int index : *some) out.push_back(static_cast<std::uint16_t>(index));
      return out;
    }
  for (std::size_t i = 0; i < expressions_.size(); ++i)
    if (expressions_[i].matches(text)) out.push_back(static_cast<std::uint16_t>(i));
  return out;
}

Spans Patterns::find(std::string_view text) const {
  Spans out;
  for (const std::uint16_t index : matching(text)) {
    std::size_t from = 0;
    while (const auto found = expressions_[index].find(text, from)) {
      out.push_back({.begin = static_cast<std::uint32_t>(found->begin),
                     .end = static_cast<std::uint32_t>(found->end),
                     .kind = index});
      from = found->end;
    }
  }
  return without_overlaps(std::move(out));
}

std::size_t Patterns::open_tail(std::string_view text) const { return tail_at_character(text, longest_); }

}  // namespace stackgate::guardrail
