// abs, int, float, round, sum, min, max, filesizeformat
#include <charconv>
#include <cmath>

#include <fmt/format.h>

#include "services/kit/base/concat.hpp"
#include "services/kit/base/try.hpp"
#include "services/kit/jinja/access.hpp"
#include "services/kit/jinja/objects.hpp"
#include "services/kit/jinja/operators.hpp"
#include "services/kit/jinja/unicode.hpp"

namespace stackgate::jinja {
namespace {

// Python's int(text, base) and float(text): white space around and single underscores inside are allowed.
std::optional<std::string> plain_number(std::string_view text) {
  text = strip_right(strip_left(text));
  std::string out;
  for (std::size_t i = 0; i < text.size(); ++i) {
    const bool inner = i > 0 && i + 1 < text.size() && text[i - 1] != '_' && text[i + 1] != '_';
    if (text[i] == '_' && !inner) return std::nullopt;
    if (text[i] != '_') out += text[i];
  }
  if (out.starts_with('+')) out.erase(0, 1), out = out.starts_with('-') || out.starts_with('+') ? "" : out;
  return out.empty() ? std::nullopt : std::optional(out);
}

std::optional<double> real_of(std::string_view text) {
  const auto plain = plain_number(text);
  if (!plain) return std::nullopt;
  double out = 0;
  const auto [end, error] = std::from_chars(plain->data(), plain->data() + plain->size(), out);
  if (end != plain->data() + plain->size()) return std::nullopt;
  if (error == std::errc::result_out_of_range) return plain->contains("e-") ? 0.0 : HUGE_VAL;
  return error == std::errc() ? std::optional(out) : std::nullopt;
}

std::optional<std::int64_t> integer_of(std::string_view text, int base) {
  auto plain = plain_number(text);
  if (!plain) return std::nullopt;
  const std::size_t sign = plain->starts_with('-') ? 1 : 0;
  const auto prefix = lower(plain->substr(sign, 2));
  if ((prefix == "0x" && base == 16) || (prefix == "0o" && base == 8) || (prefix == "0b" && base == 2))
    plain->erase(sign, 2);
  std::int64_t out = 0;
  const auto [end, error] = std::from_chars(plain->data(), plain->data() + plain->size(), out, base);
  return error == std::errc() && end == plain->data() + plain->size() ? std::optional(out) : std::nullopt;
}

std::optional<std::int64_t> truncated(double value) {
  return std::abs(value) < 9.2e18 ? std::optional(static_cast<std::int64_t>(value)) : std::nullopt;
}

Result to_int(Machine& machine, const Value& subject, Arguments& arguments) {
  const Given given = TRY(Given::match("int", arguments, {"default", "base"}));
  if (subject.is_undefined()) return undefined_fault(subject);
  const std::int64_t base = TRY(given.integer(1, 10));
  TRY(machine.spend_on(subject.bytes().size()));
  std::optional<std::int64_t> out = whole(subject);
  if (const auto* real = subject.real()) out = truncated(*real);
  if (subject.text() != nullptr && base >= 2 && base <= 36) {
    out = integer_of(subject.bytes(), static_cast<int>(base));
    if (const auto real = out ? std::nullopt : real_of(subject.bytes())) out = truncated(*real);
  }
  return out ? Value(*out) : given.get(0, std::int64_t{0});
}

Result to_float(Machine& machine, const Value& subject, Arguments& arguments) {
  const Given given = TRY(Given::match("float", arguments, {"default"}));
  if (subject.is_undefined()) return undefined_fault(subject);
  TRY(machine.spend_on(subject.bytes().size()));
  const auto out = subject.text() != nullptr ? real_of(subject.bytes()) : number(subject);
  return out ? Value(*out) : given.get(0, 0.0);
}

Result absolute(Machine&, const Value& subject, Arguments&) {
  if (subject.is_undefined()) return undefined_fault(subject);
  const auto value = number(subject);
  if (!value) return type_fault(concat({"\"", subject.type_name(), "\" has no absolute value"}));
  if (std::signbit(*value)) return negated(subject);
  return whole(subject) ? Value(*whole(subject)) : subject;
}

// To even, on the decimal digits, as Python's round().
double rounded(double value, std::int64_t precision) {
  if (!std::isfinite(value) || precision > 300) return value;
  if (precision < -300) return 0;
  if (precision >= 0) {
    const std::string digits = fmt::format("{:.{}f}", value, static_cast<int>(precision));
    double out = value;
    std::from_chars(digits.data(), digits.data() + digits.size(), out);
    return out;
  }
  const double scale = std::pow(10.0, static_cast<double>(-precision));
  return std::nearbyint(value / scale) * scale;
}

Result round_filter(Machine&, const Value& subject, Arguments& arguments) {
  const Given given = TRY(Given::match("round", arguments, {"precision", "method"}));
  const std::int64_t precision = TRY(given.integer(0, 0));
  const std::string_view method = TRY(given.text(1, "common"));
  const auto value = number(subject);
  if (subject.is_undefined()) return undefined_fault(subject);
  if (!value) return type_fault(concat({"\"", subject.type_name(), "\" cannot be rounded"}));
  if (method == "common") {
    if (whole(subject) && precision >= 0) return Value(*whole(subject));
    if (whole(subject)) return Value(static_cast<std::int64_t>(rounded(*value, precision)));
    return Value(rounded(*value, precision));
  }
  if (method != "ceil" && method != "floor") return type_fault("round() knows \"common\", \"ceil\" and \"floor\"");
  const double scale = std::pow(10.0, static_cast<double>(precision));
  return Value((method == "ceil" ? std::ceil(*value * scale) : std::floor(*value * scale)) / scale);
}

Result sum(Machine& machine, const Value& subject, Arguments& arguments) {
  const Given given = TRY(Given::match("sum", arguments, {"attribute", "start"}));
  const ListPtr items = TRY(machine.items_of(subject));
  Value out = given.get(1, std::int64_t{0});
  if (out.text() != nullptr) return type_fault("sum() is for numbers; use join()");
  for (const Value& item : items->items) {
    TRY(machine.spend());
    const bool by_path = given[0] != nullptr && !given[0]->is_none();
    const Value part = by_path ? TRY(path_of(machine, item, *given[0])) : item;
    out = TRY(arithmetic(machine, Op::add, out, part));
  }
  return out;
}

Result file_size(Machine& machine, const Value& subject, Arguments& arguments) {
  const Given given = TRY(Given::match("filesizeformat", arguments, {"binary"}));
  const auto value = subject.text() != nullptr ? real_of(subject.bytes()) : number(subject);
  if (!value) return type_fault("no size");
  const double base = given.flag(0) ? 1024 : 1000;
  if (*value == 1) return Value("1 Byte");
  if (*value < base) return machine.text(fmt::format("{} Bytes", static_cast<std::int64_t>(*value)));
  double size = *value / base;
  std::size_t unit = 0;
  while (size >= base && unit < 7) size /= base, ++unit;
  return machine.text(fmt::format("{:.1f} {}{}", size,
                                  std::string_view("kMGTPEZY").substr(unit, 1) == "k" && given.flag(0)
                                      ? "K"
                                      : std::string_view("kMGTPEZY").substr(unit, 1),
                                  given.flag(0) ? "iB" : "B"));
}

constexpr NamedBuiltin number_table[] = {
    {"abs", absolute},       {"int", to_int}, {"float", to_float},
    {"round", round_filter}, {"sum", sum},    {"filesizeformat", file_size},
};

}  // namespace

std::span<const NamedBuiltin> number_filters() { return number_table; }

}  // namespace stackgate::jinja
