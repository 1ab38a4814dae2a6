#include "services/kit/grammar/integer_text.hpp"

#include <algorithm>
#include <charconv>

#include <fmt/format.h>

#include "services/kit/grammar/characters.hpp"

namespace stackgate::validate::grammar {
namespace {

std::expected<std::int64_t, Problem> read_integer(std::string_view text, std::string_view what,
                                                  std::string_view example) {
  const auto refuse = [](std::string problem, std::string fix) {
    return std::unexpected(Problem{std::move(problem), std::move(fix)});
  };
  const std::string sample = fmt::format("write a whole number, for example \"{}\"", example);
  if (text.empty()) return refuse(fmt::format("must be {}, but is empty", what), sample);
  const std::size_t sign = text[0] == '-' ? 1 : 0;
  std::size_t at = sign;
  while (at < text.size() && is_digit(text[at])) ++at;
  if (at < text.size() || at == sign) {
    std::string_view inner = trim(text);
    if (inner.starts_with('+')) inner.remove_prefix(1);
    const bool good_inside = !inner.empty() && std::ranges::all_of(inner, is_digit) && inner[0] != '0';
    return refuse(
        fmt::format("must be {}, but {} stands in it", what, at < text.size() ? place_character(text, at) : "no digit"),
        good_inside ? fmt::format("write {}", quote_short(inner)) : sample);
  }
  const std::size_t zeros = text.find_first_not_of('0', sign);
  if (text[sign] == '0' && text.size() > sign + 1) {
    const std::string_view digits = zeros == std::string_view::npos ? "0" : text.substr(zeros);
    return refuse("must not begin with a zero",
                  quote_short(digits).empty() ? sample : fmt::format("write \"{}{}\"", sign == 1 ? "-" : "", digits));
  }
  std::int64_t value = 0;
  if (std::from_chars(text.data(), text.data() + text.size(), value).ec != std::errc{})
    return refuse("is out of range", "write a number that fits 64 bits");
  return value;
}

}  // namespace

std::expected<std::int64_t, Problem> parse_integer(std::string_view text) {
  return read_integer(text, "an integer", "8");
}

std::expected<std::int64_t, Problem> parse_positive_integer(std::string_view text) {
  auto value = read_integer(text, "a positive integer", "8");
  if (value && *value < 1)
    return std::unexpected(
        Problem{fmt::format("must be at least 1, but is {}", *value), "write a positive integer, for example \"8\""});
  return value;
}

}  // namespace stackgate::validate::grammar
