// Split patterns: PCRE2 with UTF, UCP and JIT behind one file, bounded in steps and memory.
#pragma once
#include <cstddef>
#include <cstdint>
#include <expected>
#include <memory>
#include <string>
#include <string_view>

namespace stackgate::tokenizer {

/// A compiled pattern. Const, safe to share between threads.
class Pattern {
 public:
  /// In Oniguruma's syntax, at most 16 KiB. The error is a sentence that begins with a verb: "has …".
  static std::expected<Pattern, std::string> compile(std::string_view pattern);

 private:
  friend class Matcher;
  explicit Pattern(std::shared_ptr<const void> code) : code_(std::move(code)) {}
  std::shared_ptr<const void> code_;
};

struct Match {
  std::size_t begin = 0, end = 0;
};

/// What one thread needs to match: results and stack, 1 MiB at most. Not thread-safe.
class Matcher {
 public:
  Matcher();
  enum class Result : std::uint8_t { found, none, too_many_steps };
  /// The first match at or behind `from` in well-formed UTF-8; may be empty.
  Result find(const Pattern& pattern, std::string_view text, std::size_t from, Match& match);

 private:
  struct State;
  std::shared_ptr<State> state_;
};

}  // namespace stackgate::tokenizer
