#include "services/inference/constrain/integer_range.hpp"

#include <algorithm>
#include <string>
#include <string_view>

namespace stackgate::inference {
namespace {

bool all(std::string_view digits, char c) { return digits.find_first_not_of(c) == std::string_view::npos; }

/// Numbers of as many digits as both bounds have.
void between(GrammarBuilder& b, NodeId from, std::string_view least, std::string_view most, NodeId to) {
  if (least.empty()) return b.free(from, to);
  if (all(least, '0') && all(most, '9')) {
    for (std::size_t i = 0; i < least.size(); ++i) {
      const NodeId next = i + 1 == least.size() ? to : b.node();
      b.bytes(from, '0', '9', next);
      from = next;
    }
    return;
  }
  const std::string_view low = least.substr(1), high = most.substr(1);
  const auto low_digit = static_cast<unsigned char>(least[0]), high_digit = static_cast<unsigned char>(most[0]);
  if (low_digit == high_digit) return between(b, b.byte(from, least[0]), low, high, to);
  const std::string zeros(low.size(), '0'), nines(low.size(), '9');
  between(b, b.byte(from, least[0]), low, nines, to);
  between(b, b.byte(from, most[0]), zeros, high, to);
  if (low_digit + 1 >= high_digit) return;
  const NodeId middle = b.node();
  b.bytes(from, low_digit + 1U, high_digit - 1U, middle);
  between(b, middle, zeros, nines, to);
}

void positive(GrammarBuilder& b, NodeId from, std::int64_t least, std::int64_t most, NodeId to) {
  for (std::int64_t begin = 0, end = 9; begin <= most; begin = end + 1, end = end * 10 + 9)
    if (least <= end) between(b, from, std::to_string(std::max(begin, least)), std::to_string(std::min(end, most)), to);
}

}  // namespace

void add_integers(GrammarBuilder& b, NodeId from, std::int64_t least, std::int64_t most, NodeId to) {
  if (least < 0 && least <= most) positive(b, b.byte(from, '-'), std::max<std::int64_t>(1, -most), -least, to);
  if (most >= 0) positive(b, from, std::max<std::int64_t>(0, least), most, to);
}

}  // namespace stackgate::inference
