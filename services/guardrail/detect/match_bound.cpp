#include "services/guardrail/detect/match_bound.hpp"

#include <algorithm>

#include "services/kit/base/ascii.hpp"

namespace stackgate::guardrail {
namespace {

using Bound = std::optional<std::size_t>;
constexpr std::size_t longest_character = 4, most_nesting = 100, longest_counted = 1U << 20U;

/// Every character counts as four bytes: of UTF-8, of a class, and of what a letter of the other case may take.
class Reader {
 public:
  explicit Reader(std::string_view text) : text_(text) {}

  Bound alternatives(std::size_t depth) {
    std::size_t longest = 0;
    while (true) {
      const Bound one = sequence(depth);
      if (!one) return one;
      longest = std::max(longest, *one);
      if (!take('|')) return longest;
    }
  }
  bool at_end() const { return at_ == text_.size(); }

 private:
  char peek() const { return at_ < text_.size() ? text_[at_] : '\0'; }
  bool take(char c) {
    const bool is = at_ < text_.size() && text_[at_] == c;
    at_ += is ? 1 : 0;
    return is;
  }

  Bound sequence(std::size_t depth) {
    std::size_t sum = 0;
    while (!at_end() && peek() != '|' && peek() != ')') {
      const Bound one = item(depth);
      if (!one) return std::nullopt;
      sum += *one;
      if (sum > longest_counted) return std::nullopt;
    }
    return sum;
  }

  Bound item(std::size_t depth) {
    const Bound one = atom(depth);
    return one ? repeated(*one) : one;
  }

  Bound atom(std::size_t depth) {
    if (take('(')) return group(depth);
    if (take('[')) return bracket();
    if (take('\\')) return escape();
    if (take('^') || take('$')) return 0;
    ++at_;
    return longest_character;
  }

  Bound group(std::size_t depth) {
    if (depth == most_nesting) return std::nullopt;
    if (take('?')) {
      while (!at_end() && peek() != ':' && peek() != ')' && peek() != '>') ++at_;
      if (take(')')) return 0;  // flags for what follows
      ++at_;
    }
    const Bound inside = alternatives(depth + 1);
    return take(')') ? inside : std::nullopt;
  }

  Bound bracket() {
    take('^');
    take(']');  // the first one is a member
    while (!at_end()) {
      if (take(']')) return longest_character;
      if (take('\\')) {
        ++at_;
      } else if (take('[')) {
        if (take(':'))
          while (!at_end() && !take(']')) ++at_;
      } else {
        ++at_;
      }
    }
    return std::nullopt;
  }

  Bound escape() {
    const char c = peek();
    ++at_;
    if (std::string_view("bBAz").contains(c)) return 0;
    if (c == 'Q' || c == 'C') return std::nullopt;
    if ((c == 'x' || c == 'p' || c == 'P') && take('{'))
      while (!at_end() && !take('}')) ++at_;
    // Digits of \x41, \123 and the letter of \pL count as further characters, which is more than they are.
    return longest_character;
  }

  Bound repeated(std::size_t one) {
    while (true) {
      if (take('?')) continue;  // also that of "lazy"
      if (peek() == '*' || peek() == '+') return std::nullopt;
      if (peek() != '{') return one;
      const std::size_t close = text_.find('}', at_);
      if (close == text_.npos) return std::nullopt;
      const std::string_view counts = text_.substr(at_ + 1, close - at_ - 1);
      const std::string_view most = counts.substr(counts.find(',') + 1);  // all of it without a comma
      if (most.empty() || most.size() > 4 || !std::ranges::all_of(most, ascii::is_digit)) return std::nullopt;
      std::size_t times = 0;
      for (const char digit : most) times = times * 10 + static_cast<std::size_t>(digit - '0');
      one *= times;
      if (one > longest_counted) return std::nullopt;
      at_ = close + 1;
    }
  }

  std::string_view text_;
  std::size_t at_ = 0;
};

}  // namespace

std::optional<std::size_t> longest_match(std::string_view expression) {
  Reader reader(expression);
  const Bound bound = reader.alternatives(0);
  if (!bound || !reader.at_end()) return std::nullopt;
  return *bound + 2 * longest_character;
}

}  // namespace stackgate::guardrail
