#include "services/kit/json/number.hpp"

#include <charconv>
#include <cmath>
#include <cstdlib>
#include <string>
#include <system_error>

namespace stackgate::json {

namespace {

bool is_digit(const char* at, const char* end) { return at != end && *at >= '0' && *at <= '9'; }

const char* skip_digits(const char* at, const char* end) {
  while (is_digit(at, end)) ++at;
  return at;
}

NumberRead read_double(const char* start, const char* stop, std::uint32_t offset) {
  double value = 0;
  const auto [rest, code] = std::from_chars(start, stop, value);
  if (code == std::errc::result_out_of_range) {
    // from_chars does not tell too large from too small; too small is as good as zero.
    value = std::strtod(std::string(start, stop).c_str(), nullptr);
    if (std::isinf(value)) return {start, "the number is too large for a double", {}};
  }
  return {stop, nullptr, Value::make_number(value, offset)};
}

}  // namespace

NumberRead read_number(const char* at, const char* end, std::uint32_t offset) {
  const char* const start = at;
  const bool negative = *at == '-';
  if (negative) ++at;
  if (!is_digit(at, end)) return {at, "a digit must follow the minus sign", {}};
  const char* const digits = at;
  if (*at == '0') {
    ++at;
    if (is_digit(at, end)) return {start, "a number must not begin with 0", {}};
  } else {
    at = skip_digits(at, end);
  }
  const char* const whole_end = at;
  if (at != end && *at == '.') {
    ++at;
    if (!is_digit(at, end)) return {at, "a digit must follow the decimal point", {}};
    at = skip_digits(at, end);
  }
  if (at != end && (*at == 'e' || *at == 'E')) {
    ++at;
    if (at != end && (*at == '+' || *at == '-')) ++at;
    if (!is_digit(at, end)) return {at, "a digit must follow the exponent", {}};
    at = skip_digits(at, end);
  }
  if (at != whole_end) return read_double(start, at, offset);

  std::int64_t value = 0;
  if (whole_end - digits <= 18) {
    for (const char* p = digits; p != whole_end; ++p) value = value * 10 + (*p - '0');
    if (negative) value = -value;
  } else if (std::from_chars(start, whole_end, value).ec != std::errc{}) {
    return read_double(start, whole_end, offset);
  }
  return {whole_end, nullptr, Value::make_integer(value, offset)};
}

}  // namespace stackgate::json
