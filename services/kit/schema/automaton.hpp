// A deterministic automaton made from a plain, anchored regular expression.
#pragma once
#include <array>
#include <cstdint>
#include <optional>
#include <string_view>
#include <vector>

namespace stackgate::validate::schema {

class Automaton {
 public:
  /// For `^…$` made of ASCII literals, classes, `.`, \d \w \s, groups, alternatives and repetitions. Nothing for any
  /// other expression, a wrong one included, and where the automaton would be large.
  static std::optional<Automaton> compile(std::string_view expression);

  /// Whether the whole `text`, which is well-formed UTF-8, is in the language.
  bool matches(std::string_view text) const {
    std::size_t state = 1;
    for (const char c : text) state = next_[state * classes_ + class_of_[static_cast<unsigned char>(c)]];
    return accepting_[state];
  }

 private:
  std::array<std::uint8_t, 256> class_of_{};
  std::size_t classes_ = 0;
  std::vector<std::uint16_t> next_;  // [state][class]; state 0 is the one without a way out, 1 the first
  std::vector<bool> accepting_;
};

}  // namespace stackgate::validate::schema
