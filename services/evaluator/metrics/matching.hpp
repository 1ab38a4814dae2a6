// Whether a text is the one that was expected, and how many of its words. Pure.
#pragma once
#include <cstdint>
#include <expected>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace re2 {
class RE2;
}

namespace stackgate::evaluator {

struct MatchOptions {
  std::vector<std::string> regexes_to_ignore{};  // RE2's syntax, which is Python's without look-around
  bool ignore_case = false, ignore_punctuation = false, ignore_numbers = false, strip = false;
};

/// Equal code points after what is ignored has been taken out, in the order of the options' members. No Unicode
/// normalisation. Thread-safe.
class ExactMatch {
 public:
  /// The error names the pattern and what RE2 says of it.
  static std::expected<ExactMatch, std::string> compile(const MatchOptions& options);
  ExactMatch(ExactMatch&&) noexcept;
  ExactMatch& operator=(ExactMatch&&) noexcept;
  ~ExactMatch();

  bool matches(std::string_view text, std::span<const std::string> references) const;
  std::string compared(std::string_view text) const;

 private:
  ExactMatch();
  MatchOptions options_{};
  std::vector<std::unique_ptr<const re2::RE2>> ignored_;
};

/// SQuAD's F1 over bags of words, of the best reference. 1 where both have no words, 0 where one has none.
double token_f1(std::string_view text, std::span<const std::string> references);

/// NeMo's string-check.
enum class StringCheck : std::uint8_t { equals, not_equals, contains, not_contains, starts_with, ends_with };
std::optional<StringCheck> string_check_named(std::string_view name);
bool check_string(StringCheck check, std::string_view text, std::string_view reference);

}  // namespace stackgate::evaluator
