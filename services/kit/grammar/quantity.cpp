#include "services/kit/grammar/quantity.hpp"

#include <array>
#include <charconv>
#include <limits>

#include "services/kit/base/concat.hpp"
#include "services/kit/grammar/characters.hpp"

namespace stackgate::validate::grammar {
namespace {

__extension__ using Wide = unsigned __int128;
constexpr Wide wide_max = ~Wide{0} >> 1U;  // what a signed 128-bit amount holds
constexpr Wide nano_per_unit = 1'000'000'000;

struct Suffix {
  std::string_view text;
  int power;  // of ten, or of two when binary
  bool binary;
};
constexpr std::array<Suffix, 16> suffixes{{{"n", -9, false},
                                           {"u", -6, false},
                                           {"m", -3, false},
                                           {"", 0, false},
                                           {"k", 3, false},
                                           {"M", 6, false},
                                           {"G", 9, false},
                                           {"T", 12, false},
                                           {"P", 15, false},
                                           {"E", 18, false},
                                           {"Ki", 10, true},
                                           {"Mi", 20, true},
                                           {"Gi", 30, true},
                                           {"Ti", 40, true},
                                           {"Pi", 50, true},
                                           {"Ei", 60, true}}};

const Suffix* find_suffix(std::string_view text) {
  for (const Suffix& each : suffixes)
    if (each.text == text) return &each;
  return nullptr;
}

Wide times(Wide a, Wide b) {
  Wide out = 0;
  return __builtin_mul_overflow(a, b, &out) || out > wide_max ? wide_max : out;
}

// digits × 10^power (× 2^binary) in nano, rounded up; saturates.
Wide scale_to_nano(std::string_view whole, std::string_view fraction, std::int64_t power, int binary) {
  // Digits in front of the nano position are added up, the rest only decides whether to round up.
  Wide amount = 0;
  bool rest = false;
  bool saturated = false;
  const Wide unit = Wide{1} << static_cast<unsigned>(binary);
  const auto total = static_cast<std::int64_t>(whole.size() + fraction.size());
  const auto digit_at = [&](std::int64_t i) {
    const auto at = static_cast<std::size_t>(i);
    return static_cast<unsigned>((at < whole.size() ? whole[at] : fraction[at - whole.size()]) - '0');
  };
  if (binary > 0) {
    // amount = digits × 2^binary × 10^9 / 10^fraction, exactly: long division digit by digit. A digit's own weight is
    // 2^binary × 10^9 ≤ 2^90; below the point it is divided by ten each time with the remainders carried along.
    for (std::size_t i = 0; i < whole.size(); ++i) {
      amount = times(amount, 10);
      amount = amount > wide_max - Wide(digit_at(static_cast<std::int64_t>(i)))
                   ? wide_max
                   : amount + Wide(digit_at(static_cast<std::int64_t>(i)));
    }
    amount = times(times(amount, unit), nano_per_unit);
    // From the last digit to the first: t = (t + digit × weight) / 10, rounded up; ceilings nest exactly.
    const Wide weight = unit * nano_per_unit;
    Wide tail = 0;
    for (std::size_t i = fraction.size(); i-- > 0;) {
      const Wide sum = tail + Wide(static_cast<unsigned>(fraction[i] - '0')) * weight;
      tail = sum / 10 + (sum % 10 != 0 ? 1 : 0);
    }
    amount = amount > wide_max - tail ? wide_max : amount + tail;
    return amount;
  }
  const std::int64_t point =
      static_cast<std::int64_t>(whole.size()) + power + 9;  // digits in front of the nano position
  for (std::int64_t i = 0; i < total; ++i) {
    const unsigned digit = digit_at(i);
    if (i >= point) {
      rest = rest || digit != 0;
      continue;
    }
    amount = times(amount, 10);
    amount = amount > wide_max - digit ? wide_max : amount + digit;
    saturated = amount == wide_max;
  }
  for (std::int64_t i = total; i < point && amount != 0 && !saturated; ++i) {
    amount = times(amount, 10);
    saturated = amount == wide_max;
  }
  return rest && amount < wide_max ? amount + 1 : amount;
}

Problem not_a_number(std::string_view text) {
  return {concat({"must be a quantity, a number with an optional unit, but ", place_character(text, 0),
                  " stands where a digit belongs"}),
          "write a number with a unit, for example \"500m\", \"2\" or \"10Gi\""};
}

// What the writer meant by a unit that does not exist.
std::string cure_unit(std::string_view number, std::string_view unit) {
  const std::string lower = to_lower(unit);
  const auto both = [&](std::string_view letter) {
    return concat(
        {"write \"", number, letter, "i\" (binary) or \"", number, letter == "K" ? "k" : letter, "\" (decimal)"});
  };
  static constexpr std::array<std::pair<std::string_view, std::string_view>, 6> letters{
      {{"k", "K"}, {"m", "M"}, {"g", "G"}, {"t", "T"}, {"p", "P"}, {"e", "E"}}};
  for (const auto& [small, big] : letters) {
    if (!lower.starts_with(small)) continue;
    const std::string_view rest = std::string_view(lower).substr(small.size());
    if (rest == "i" || rest == "ib") return concat({"write \"", number, big, "i\""});
    if (rest.empty() || rest == "b") return both(big);
  }
  if (lower == "b" || lower == "byte" || lower == "bytes")
    return concat({"write \"", number, "\": bytes have no unit"});
  if (lower == "cpu" || lower == "core" || lower == "cores" || lower == "cpus")
    return concat({"write \"", number, "\": CPUs have no unit"});
  return "use one of the units n, u, m, k, M, G, T, P, E (decimal) or Ki, Mi, Gi, Ti, Pi, Ei (binary)";
}

}  // namespace

Quantity Quantity::from_integer(std::int64_t value) {
  Quantity out;
  out.nano_ = static_cast<Amount>(value) * static_cast<Amount>(nano_per_unit);
  return out;
}

bool Quantity::is_integer() const { return nano_ % static_cast<Amount>(nano_per_unit) == 0; }

std::optional<std::int64_t> Quantity::to_integer() const {
  const Amount whole = nano_ / static_cast<Amount>(nano_per_unit);
  if (!is_integer() || whole > std::numeric_limits<std::int64_t>::max() ||
      whole < std::numeric_limits<std::int64_t>::min())
    return std::nullopt;
  return static_cast<std::int64_t>(whole);
}

std::int64_t Quantity::rounded_up() const {
  Amount whole = nano_ / static_cast<Amount>(nano_per_unit);
  if (!is_integer()) whole += sign();
  if (whole > std::numeric_limits<std::int64_t>::max()) return std::numeric_limits<std::int64_t>::max();
  if (whole < std::numeric_limits<std::int64_t>::min()) return std::numeric_limits<std::int64_t>::min();
  return static_cast<std::int64_t>(whole);
}

Quantity& Quantity::operator+=(const Quantity& other) {
  Amount sum = 0;
  const auto bound = static_cast<Amount>(wide_max);
  if (__builtin_add_overflow(nano_, other.nano_, &sum)) sum = other.sign() > 0 ? bound : -bound;
  nano_ = sum;
  return *this;
}

std::string Quantity::nano_text() const {
  const bool negative = nano_ < 0;
  auto rest = static_cast<Wide>(negative ? -nano_ : nano_);
  if (rest == wide_max) return {};
  std::string out;
  do out.insert(out.begin(), static_cast<char>('0' + static_cast<int>(rest % 10)));
  while ((rest /= 10) != 0);
  return negative ? "-" + out : out;
}

std::expected<Quantity, Problem> parse_quantity(std::string_view text) {
  if (text.empty())
    return std::unexpected(Problem{"must be a quantity, but is empty",
                                   "write a number with a unit, for example \"500m\", \"2\" or \"10Gi\""});
  std::size_t at = 0;
  const bool negative = text[0] == '-';
  if (text[0] == '-' || text[0] == '+') ++at;
  const auto take_digits = [&](std::string_view from) {
    const std::size_t begin = at;
    while (at < from.size() && is_digit(from[at])) ++at;
    return from.substr(begin, at - begin);
  };
  std::string_view whole = take_digits(text);
  std::string_view fraction;
  if (at < text.size() && text[at] == '.') {
    ++at;
    fraction = take_digits(text);
  }
  if (whole.empty() && fraction.empty()) {
    if (const std::string_view inner = trim(text);
        inner.size() != text.size() && !inner.empty() && parse_quantity(inner))
      return std::unexpected(
          Problem{"must not have spaces around the quantity", concat({"write ", quote_short(inner)})});
    return std::unexpected(not_a_number(text));
  }
  const std::string_view number = text.substr(0, at);
  const std::string_view unit = text.substr(at);
  while (whole.size() > 1 && whole.front() == '0') whole.remove_prefix(1);

  int power = 0;
  int binary = 0;
  if (const Suffix* suffix = find_suffix(unit)) {
    (suffix->binary ? binary : power) = suffix->power;
  } else if (unit.size() > 1 && (unit[0] == 'e' || unit[0] == 'E') &&
             (is_digit(unit[1]) || ((unit[1] == '-' || unit[1] == '+') && unit.size() > 2))) {
    const char* begin = unit.data() + (unit[1] == '+' ? 2 : 1);
    const char* end = unit.data() + unit.size();
    std::int32_t exponent = 0;
    const auto [stop, error] = std::from_chars(begin, end, exponent);
    if (error == std::errc::result_out_of_range)
      return std::unexpected(
          Problem{"has an exponent that is out of range", "write the number with a unit, for example \"10Gi\""});
    if (error != std::errc{} || stop != end || (unit[1] == '+' && *begin == '-'))
      return std::unexpected(Problem{"has an exponent that is not a whole number",
                                     "write it as in \"2e3\", or with a unit, for example \"2k\""});
    power = exponent;
  } else {
    const std::string_view bare = trim(unit);
    const std::string shown = quote_short(number).empty() ? std::string() : std::string(number);
    if (bare.size() != unit.size()) {
      const std::string joined = shown + std::string(bare);
      if (bare.empty() || find_suffix(bare) != nullptr)
        return std::unexpected(Problem{"must not contain a space", shown.empty() ? "write number and unit together"
                                                                                 : concat({"write \"", joined, "\""})});
    }
    const std::string named = quote_short(bare);
    std::string problem = named.empty() || bare.size() > 16
                              ? concat({"is no quantity: ", place_character(text, at), " belongs to no unit"})
                              : concat({"has the unit ", named, ", which does not exist"});
    return std::unexpected(Problem{std::move(problem), cure_unit(shown.empty() ? "1" : shown, bare)});
  }

  Wide nano = scale_to_nano(whole, fraction, power, binary);
  if (binary > 0) {
    const Wide cap = static_cast<Wide>(std::numeric_limits<std::int64_t>::max()) * nano_per_unit;
    if (nano > cap) nano = cap;
  }
  Quantity out;
  out.nano_ = negative ? -static_cast<Quantity::Amount>(nano) : static_cast<Quantity::Amount>(nano);
  return out;
}

}  // namespace stackgate::validate::grammar
