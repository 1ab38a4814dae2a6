#include "services/kit/jinja/format_field.hpp"

#include <algorithm>
#include <charconv>
#include <cmath>

#include <fmt/format.h>

#include "services/kit/base/concat.hpp"
#include "services/kit/base/try.hpp"
#include "services/kit/jinja/operators.hpp"
#include "services/kit/jinja/print.hpp"
#include "services/kit/jinja/unicode.hpp"

namespace stackgate::jinja {
namespace {

constexpr int most_digits = 1000;

bool is_align(char c) { return c == '<' || c == '>' || c == '^' || c == '='; }

std::string grouped(std::string_view digits, char separator) {
  const std::size_t whole_size = std::min(digits.find_first_not_of("0123456789"), digits.size());
  std::string out;
  for (std::size_t i = 0; i < whole_size; ++i) {
    if (i > 0 && (whole_size - i) % 3 == 0) out += separator;
    out += digits[i];
  }
  return out.append(digits.substr(whole_size));
}

std::expected<std::string, Fault> real_digits(const Field& field, double value) {
  const double size = std::abs(value);
  const char type = field.type == '\0' || field.type == 'n' ? 'g' : field.type;
  if (!std::isfinite(size)) {
    const std::string word = std::isnan(size) ? "nan" : "inf";
    return type == 'F' || type == 'E' || type == 'G' ? upper(word) : word;
  }
  if (field.type == '\0' && field.precision < 0) {
    std::string out;
    append_real(out, size);
    return out;
  }
  const int precision = field.precision < 0 ? 6 : field.precision;
  switch (type) {
    case 'f':
    case 'F':
      return fmt::format("{:.{}f}", size, precision);
    case 'e':
      return fmt::format("{:.{}e}", size, precision);
    case 'E':
      return fmt::format("{:.{}E}", size, precision);
    case 'G':
      return fmt::format("{:.{}G}", size, std::max(precision, 1));
    case '%':
      return fmt::format("{:.{}f}%", size * 100, precision);
    case 'g':
      return fmt::format("{:.{}g}", size, std::max(precision, 1));
    default:
      return type_fault(concat({"the format \"", std::string_view(&type, 1), "\" is not for \"float\""}));
  }
}

std::expected<std::string, Fault> integer_digits(const Field& field, std::int64_t value) {
  const std::uint64_t size = value < 0 ? 0 - static_cast<std::uint64_t>(value) : static_cast<std::uint64_t>(value);
  switch (field.type) {
    case '\0':
    case 'd':
    case 'n':
      return fmt::format("{}", size);
    case 'b':
      return fmt::format("{}{:b}", field.alternate ? "0b" : "", size);
    case 'o':
      return fmt::format("{}{:o}", field.alternate ? "0o" : "", size);
    case 'x':
      return fmt::format("{}{:x}", field.alternate ? "0x" : "", size);
    case 'X':
      return fmt::format("{}{:X}", field.alternate ? "0X" : "", size);
    default:
      return real_digits(field, static_cast<double>(value));
  }
}

}  // namespace

std::expected<Field, Fault> read_field(std::string_view text) {
  Field out;
  const std::size_t fill = text.empty() ? 0 : point_size(text);
  if (text.size() > fill && is_align(text[fill])) {
    out.fill = text.substr(0, fill);
    out.align = text[fill];
    text.remove_prefix(fill + 1);
  } else if (!text.empty() && is_align(text[0])) {
    out.align = text[0];
    text.remove_prefix(1);
  }
  const auto take = [&](char c) {
    if (!text.starts_with(c)) return false;
    text.remove_prefix(1);
    return true;
  };
  if (!text.empty() && (text[0] == '+' || text[0] == '-' || text[0] == ' ')) {
    out.sign = text[0];
    text.remove_prefix(1);
  }
  out.alternate = take('#');
  if (take('0') && out.align == '\0') out.fill = "0", out.align = '=';
  const auto number = [&](auto& value) {
    const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
    const bool is_read = error == std::errc();
    text.remove_prefix(static_cast<std::size_t>(end - text.data()));
    return is_read;
  };
  (void)number(out.width);
  if (text.starts_with(',') || text.starts_with('_')) out.separator = text[0], text.remove_prefix(1);
  if (take('.') && (!number(out.precision) || out.precision < 0)) return type_fault("a format without a precision");
  if (!text.empty()) out.type = text[0], text.remove_prefix(1);
  static constexpr std::string_view types("\0bcdeEfFgGnosxX%", 16);
  if (!text.empty() || !types.contains(out.type)) return type_fault("a format that is none");
  return out;
}

std::expected<std::string, Fault> format_number(const Field& field, const Value& value) {
  if (field.type == 'c') {
    const auto code = whole(value);
    if (!code || *code < 0 || *code > 0x10FFFF) return type_fault("no character has this number");
    std::string out;
    append_point(out, static_cast<char32_t>(*code));
    return out;
  }
  const auto integer = whole(value);
  const auto real = number(value);
  if (!real) return type_fault(concat({"a number is wanted, not \"", value.type_name(), "\""}));
  if (field.precision > most_digits) return limit_fault("a format of more than 1000 digits");
  std::string digits = TRY(integer ? integer_digits(field, *integer) : real_digits(field, *real));
  if (field.separator != '\0') digits = grouped(digits, field.separator);
  const bool is_negative = integer ? *integer < 0 : std::signbit(*real) && !std::isnan(*real);
  if (is_negative) return "-" + digits;
  return field.sign == '-' ? digits : std::string(1, field.sign) + digits;
}

Status append_field(Machine& machine, std::string& out, const Field& field, std::string_view text, bool is_number) {
  const std::size_t length = count_points(text);
  const std::size_t missing = field.width > length ? field.width - length : 0;
  if (missing > machine.limits().output) return limit_fault("a format that is too wide");
  TRY(machine.has_room(out.size() + text.size() + missing * 4));
  TRY(machine.spend_on(text.size() + missing));
  const auto fill = [&](std::size_t count) {
    for (; count > 0; --count) out += field.fill;
  };
  const char align = field.align == '\0' ? (is_number ? '>' : '<') : field.align;
  if (align == '=' && is_number) {
    const std::size_t sign = !text.empty() && (text[0] == '-' || text[0] == '+' || text[0] == ' ') ? 1 : 0;
    const std::size_t head = sign + (field.alternate && text.size() > sign + 1 && text[sign] == '0' ? 2 : 0);
    out += text.substr(0, head);
    fill(missing);
    out += text.substr(head);
    return {};
  }
  const std::size_t before = align == '>' ? missing : align == '^' ? missing / 2 : 0;
  fill(before);
  out += text;
  fill(missing - before);
  return {};
}

}  // namespace stackgate::jinja
