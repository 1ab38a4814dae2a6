// Patterns of a configuration (`rails.config.regex_detection`): whether a text matches, and where. Pure.
//
// Immutable once compiled; any number of threads.
#pragma once
#include <cstdint>
#include <expected>
#include <string>
#include <string_view>
#include <vector>

#include "services/guardrail/detect/expression.hpp"
#include "services/guardrail/detect/span.hpp"
#include "services/kit/findings/finding.hpp"

namespace stackgate::guardrail {

struct PatternsOptions {
  std::vector<std::string> patterns{};  // RE2's syntax, which is Python's but for what looks around and back
  bool case_insensitive = false;
};
inline constexpr std::size_t most_patterns = 200;

class Patterns {
 public:
  /// All faults at once; their paths begin with `path`: "rails.config.regex_detection.input".
  static std::expected<Patterns, validate::Findings> compile(const PatternsOptions& options, std::string_view path);

  /// Indexes of the patterns that match somewhere, in ascending order.
  std::vector<std::uint16_t> matching(std::string_view text) const;
  /// Every match. Of those that overlap the one that begins first, then the longest. `kind` is the pattern's index.
  Spans find(std::string_view text) const;
  std::string_view source(std::size_t pattern) const { return expressions_[pattern].source(); }

  /// As SensitiveData::open_tail().
  std::size_t open_tail(std::string_view text) const;
  /// Indexes of patterns whose matches have no longest length: in a stream the tail is longest_open_tail.
  const std::vector<std::uint16_t>& unbounded() const { return unbounded_; }

 private:
  Patterns() = default;
  std::vector<Expression> expressions_;
  std::shared_ptr<const ExpressionSet> set_;
  std::vector<std::uint16_t> unbounded_;
  std::size_t longest_ = 0;
};

/// The last `most` bytes of a text, or fewer where a character begins.
std::size_t tail_at_character(std::string_view text, std::size_t most);
/// Of spans in any order: those that begin first and, among these, the longest; none overlaps.
Spans without_overlaps(Spans spans);

}  // namespace stackgate::guardrail
