// Regular expressions of configurations, matched in linear time. RE2 stays behind expression.cpp.
#pragma once
#include <cstddef>
#include <expected>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace stackgate::guardrail {

struct Found {
  std::size_t begin = 0, end = 0;  // bytes
};

struct ExpressionFlags {
  bool case_insensitive = false;
  bool lines = false;  // Python's MULTILINE and DOTALL
};

/// Immutable; any number of threads. Memory: at most expression_memory, for its program and what matching keeps.
class Expression {
 public:
  /// The error is what is wrong with it, as RE2 says it: "no argument for repetition operator: *". An expression that
  /// matches the empty text is refused: it would match every text.
  static std::expected<Expression, std::string> compile(std::string_view source, ExpressionFlags flags = {});

  bool matches(std::string_view text) const;
  /// The first match at or behind `from`, the longest of Perl's choice; never empty.
  std::optional<Found> find(std::string_view text, std::size_t from = 0) const;
  const std::string& source() const;
  /// Bytes of the longest match (match_bound.hpp), or nothing.
  std::optional<std::size_t> longest() const;

 private:
  struct State;
  std::shared_ptr<const State> state_;
};
inline constexpr std::size_t expression_memory = 2U << 20U;
inline constexpr std::size_t longest_expression = 4096;  // bytes of its source

/// Which of several match, in one pass.
class ExpressionSet {
 public:
  /// All must compile as Expressions with the same flags.
  ExpressionSet(const std::vector<std::string>& sources, ExpressionFlags flags);
  /// Indexes in ascending order; nothing when the set is too large to be told at once: then each is to be asked.
  std::optional<std::vector<int>> matching(std::string_view text) const;

 private:
  struct State;
  std::shared_ptr<const State> state_;
};

}  // namespace stackgate::guardrail
