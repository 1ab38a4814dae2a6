// The number that a text says: a judge's "Rating: [[7]]". Pure.
#pragma once
#include <expected>
#include <memory>
#include <string>
#include <string_view>

namespace re2 {
class RE2;
}

namespace stackgate::evaluator {

/// Thread-safe.
class NumberPattern {
 public:
  /// RE2's syntax, with a group that is the number. The error is a sentence about the pattern.
  static std::expected<NumberPattern, std::string> compile(std::string_view pattern);
  NumberPattern(NumberPattern&&) noexcept;
  NumberPattern& operator=(NumberPattern&&) noexcept;
  ~NumberPattern();

  /// The first group of the first match. The error says why there is no number; nothing of the text is in it.
  std::expected<double, std::string> read(std::string_view text) const;

 private:
  NumberPattern();
  std::unique_ptr<const re2::RE2> pattern_;
};

}  // namespace stackgate::evaluator
