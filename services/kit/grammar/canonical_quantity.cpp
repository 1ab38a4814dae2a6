#include "services/kit/grammar/canonical_quantity.hpp"

#include <algorithm>
#include <array>
#include <charconv>
#include <cstdint>

#include <fmt/format.h>

#include "services/kit/grammar/characters.hpp"
#include "services/kit/grammar/quantity.hpp"

namespace stackgate::validate::grammar {
namespace {

enum class Notation : std::uint8_t { decimal, exponent, binary };

struct Pieces {
  std::string_view whole, fraction;  // digits without leading zeros; `whole` is "0" rather than empty
  Notation notation = Notation::decimal;
  int power = 0;  // of ten, or of two
};

/// Of a text that parse_quantity() takes.
Pieces take_apart(std::string_view text) {
  Pieces out;
  if (text.starts_with('-') || text.starts_with('+')) text.remove_prefix(1);
  const auto take_digits = [&text] {
    const auto end = std::ranges::find_if_not(text, is_digit);
    const std::string_view digits = text.substr(0, static_cast<std::size_t>(end - text.begin()));
    text.remove_prefix(digits.size());
    return digits;
  };
  out.whole = take_digits();
  out.whole.remove_prefix(std::min(out.whole.find_first_not_of('0'), out.whole.size()));
  if (out.whole.empty()) out.whole = "0";
  if (text.starts_with('.')) {
    text.remove_prefix(1);
    out.fraction = take_digits();
  }
  constexpr std::string_view binary = "KMGTPE";
  constexpr std::array<std::pair<char, int>, 9> decimal{
      {{'n', -9}, {'u', -6}, {'m', -3}, {'k', 3}, {'M', 6}, {'G', 9}, {'T', 12}, {'P', 15}, {'E', 18}}};
  if (text.empty()) return out;
  if (text.ends_with('i')) {
    out.notation = Notation::binary;
    out.power = 10 * (static_cast<int>(binary.find(text[0])) + 1);
  } else if (text.size() == 1) {
    out.power = std::ranges::find(decimal, text[0], &std::pair<char, int>::first)->second;
  } else {
    out.notation = Notation::exponent;
    text.remove_prefix(text[1] == '+' ? 2 : 1);
    std::from_chars(text.data(), text.data() + text.size(), out.power);
  }
  return out;
}

/// The power of ten of the last digit.
int scale_of(const Pieces& pieces) { return pieces.power - static_cast<int>(pieces.fraction.size()); }

/// Of decimal digits in units of 1n, away from zero.
std::string rounded_to_milli(std::string digits) {
  constexpr std::size_t dropped = 6;
  const std::string sign = digits.starts_with('-') ? "-" : "";
  digits.erase(0, sign.size());
  if (digits.size() <= dropped) return sign + "1" + std::string(dropped, '0');
  const auto tail = digits.end() - static_cast<std::ptrdiff_t>(dropped);
  if (std::all_of(tail, digits.end(), [](char c) { return c == '0'; })) return sign + digits;
  std::fill(tail, digits.end(), '0');
  auto at = tail;
  while (at != digits.begin() && *std::prev(at) == '9') *--at = '0';
  if (at == digits.begin())
    digits.insert(digits.begin(), '1');
  else
    ++*std::prev(at);
  return sign + digits;
}

/// Kubernetes gives some texts back as they are, because they look canonical to it: "1.500", "+5Gi", "007".
bool is_taken_as_canonical(const Pieces& pieces, const Quantity& amount) {
  const auto length = static_cast<int>(pieces.whole.size() + pieces.fraction.size());
  if (pieces.notation == Notation::binary) {
    if (!pieces.fraction.empty() || 15 - length - static_cast<int>(static_cast<float>(pieces.power) * 3 / 10) - 1 < 0)
      return false;
    std::int64_t number = 0;
    std::from_chars(pieces.whole.data(), pieces.whole.data() + pieces.whole.size(), number);
    return (number & 7) != 0;
  }
  const int scale = scale_of(pieces);
  if (length > 18 || scale < -9 || scale % 3 != 0 || pieces.whole.starts_with('0')) return false;
  std::string digits(pieces.whole);
  digits += pieces.fraction;
  return amount.sign() != 0 && !digits.ends_with("000");
}

/// Of digits in units of 1n; nothing when there are none, or no suffix is large enough.
std::optional<std::string> as_decimal(std::string digits, bool exponent_notation) {
  if (digits.empty()) return std::nullopt;
  int power = -9;
  while (digits.size() > 1 && digits.back() == '0') {
    digits.pop_back();
    ++power;
  }
  for (; power % 3 != 0; --power) digits += '0';
  if (exponent_notation) return power == 0 ? digits : fmt::format("{}e{}", digits, power);
  constexpr std::array<std::string_view, 10> suffixes{"n", "u", "m", "", "k", "M", "G", "T", "P", "E"};
  const auto index = static_cast<std::size_t>((power + 9) / 3);
  if (index >= suffixes.size()) return std::nullopt;
  return digits + std::string(suffixes[index]);
}

std::string as_binary(std::int64_t amount) {
  constexpr std::array<std::string_view, 7> suffixes{"", "Ki", "Mi", "Gi", "Ti", "Pi", "Ei"};
  std::size_t times = 0;
  for (; amount % 1024 == 0; amount /= 1024) ++times;
  return fmt::format("{}{}", amount, suffixes[times]);
}

std::optional<std::string> canonical(std::string_view text, bool to_milli) {
  const auto amount = parse_quantity(text);
  if (!amount) return std::nullopt;
  if (amount->sign() == 0) return "0";
  const Pieces pieces = take_apart(text);
  const bool fine = pieces.notation != Notation::binary && scale_of(pieces) < -3;
  if (is_taken_as_canonical(pieces, *amount) && !(to_milli && fine)) return std::string(text);
  if (pieces.notation == Notation::binary) {
    const auto whole = amount->to_integer();
    if (whole && (*whole >= 1024 || *whole <= -1024)) return as_binary(*whole);
  }
  // Beyond what 128 bits of 1n or the suffixes hold nothing is sensible: the text stays.
  std::string digits = amount->nano_text();
  if (to_milli && !digits.empty()) digits = rounded_to_milli(std::move(digits));
  return as_decimal(std::move(digits), pieces.notation == Notation::exponent).value_or(std::string(text));
}

}  // namespace

std::optional<std::string> canonical_quantity(std::string_view text) { return canonical(text, false); }

std::optional<std::string> canonical_resource_amount(std::string_view text) { return canonical(text, true); }

}  // namespace stackgate::validate::grammar
