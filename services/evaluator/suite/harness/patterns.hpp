// Python's regular expressions as far as RE2 has them: no back references, and of look-around only what begins a
// pattern with (?<=a literal text) or ends it with (?=something without groups). They take time that grows with the
// text. Classes of characters (\d, \w, \s) are Unicode's, as Python's are. Pure.
#pragma once
#include <expected>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

namespace re2 {
class RE2;
}

namespace stackgate::evaluator::harness {

/// Thread-safe; a copy costs a reference count.
class Pattern {
 public:
  /// The error says what RE2 does not take.
  static std::expected<Pattern, std::string> compile(std::string_view python);

  /// re.findall(): of each match its groups, or the whole of it where there are none.
  std::vector<std::vector<std::string>> find_all(std::string_view text) const;
  /// re.sub() with \1 and \g<1> in `replacement`; count 0: all of them.
  std::string replace(std::string_view text, std::string_view replacement, std::size_t count = 0) const;

 private:
  Pattern(std::shared_ptr<const re2::RE2> pattern, bool is_framed, std::size_t before)
      : pattern_(std::move(pattern)), is_framed_(is_framed), before_(before) {}

  std::shared_ptr<const re2::RE2> pattern_;
  bool is_framed_ = false;  // group 1 is what Python calls the match: what it looks at stands around it
  std::size_t before_ = 0;  // bytes that it looks at before
};

/// re.escape() for RE2.
std::string escape_pattern(std::string_view text);

}  // namespace stackgate::evaluator::harness
