#include "services/kit/grammar/duration.hpp"

#include <array>
#include <cstdint>
#include <limits>
#include <string>

#include <fmt/format.h>

#include "services/kit/grammar/characters.hpp"

namespace stackgate::validate::grammar {
namespace {

constexpr std::int64_t ns_per_ms = 1'000'000;
constexpr std::uint64_t longest_ns = std::numeric_limits<std::int64_t>::max();
constexpr std::string_view duration_example = "write a number with a unit, for example \"30s\", \"1m\" or \"1h30m\"";

struct DurationUnit {
  std::string_view text;
  std::uint64_t nanoseconds;
};
constexpr std::uint64_t second_ns = 1'000'000'000;
constexpr std::array<DurationUnit, 7> prometheus_units{{{"y", 365 * 86'400 * second_ns},
                                                        {"w", 7 * 86'400 * second_ns},
                                                        {"d", 86'400 * second_ns},
                                                        {"h", 3'600 * second_ns},
                                                        {"m", 60 * second_ns},
                                                        {"s", second_ns},
                                                        {"ms", ns_per_ms}}};
// Two ways to write micro: U+00B5 and U+03BC.
constexpr std::array<DurationUnit, 8> go_units{{{"ns", 1},
                                                {"us", 1'000},
                                                {"\xC2\xB5s", 1'000},
                                                {"\xCE\xBCs", 1'000},
                                                {"ms", ns_per_ms},
                                                {"s", second_ns},
                                                {"m", 60 * second_ns},
                                                {"h", 3'600 * second_ns}}};

std::string_view take_run(std::string_view text, std::size_t& at, bool digits) {
  const std::size_t begin = at;
  while (at < text.size() && is_digit(text[at]) == digits && (digits || text[at] != '.')) ++at;
  return text.substr(begin, at - begin);
}

std::unexpected<Problem> no_duration(std::string problem, std::string fix = std::string(duration_example)) {
  return std::unexpected(Problem{std::move(problem), std::move(fix)});
}

// The unit that somebody meant by "sec", "Min", "hours", or empty.
std::string_view meant_unit(std::string_view unit) {
  const std::string lower = to_lower(trim(unit));
  if (lower == "ms" || lower.starts_with("milli") || lower == "msec") return "ms";
  for (const auto& [stem, meant] : std::array<std::array<std::string_view, 2>, 6>{
           {{"sec", "s"}, {"min", "m"}, {"hour", "h"}, {"day", "d"}, {"week", "w"}, {"year", "y"}}})
    if (lower.starts_with(stem) || lower == meant) return meant;
  return lower == "hr" || lower == "hrs" ? "h" : "";
}

std::unexpected<Problem> wrong_unit(std::string_view text, std::string_view number, std::string_view unit, bool alone) {
  const std::string_view meant = meant_unit(unit);
  if (alone && !meant.empty() && meant != unit && number.size() < 20)
    return no_duration(fmt::format("has the unit {}, which does not exist",
                                   quote_short(trim(unit)).empty() ? "given" : quote_short(trim(unit))),
                       fmt::format("write \"{}{}\"", number, meant));
  const auto at = static_cast<std::size_t>(unit.data() - text.data());
  return no_duration(fmt::format("is no duration: no unit begins with {}", place_character(text, at)),
                     "use the units y, w, d, h, m, s and ms, for example \"30s\" or \"1h30m\"");
}

}  // namespace

std::expected<std::chrono::milliseconds, Problem> parse_prometheus_duration(std::string_view text) {
  if (text.empty()) return no_duration("must be a duration, but is empty");
  if (text == "0") return std::chrono::milliseconds(0);
  std::uint64_t total = 0;
  std::size_t next_unit = 0;  // the units from here on may still come
  for (std::size_t at = 0; at < text.size();) {
    const std::string_view digits = take_run(text, at, true);
    if (digits.empty()) {
      if (const std::string_view inner = trim(text);
          inner.size() != text.size() && !inner.empty() && parse_prometheus_duration(inner))
        return no_duration("must not have spaces around the duration", fmt::format("write {}", quote_short(inner)));
      if (at > 0 && text[at] == '.')
        return no_duration("must not have a fraction",
                           "write whole numbers, for example \"1m30s\" for one and a half minutes");
      return no_duration(
          fmt::format("must be a duration, but {} stands where a digit belongs", place_character(text, at)));
    }
    if (at == text.size()) {
      const bool plain = digits.size() == text.size() && digits.size() < 20;
      return no_duration("has no unit",
                         plain ? fmt::format("write \"{}s\" for seconds", digits) : std::string(duration_example));
    }
    if (text[at] == '.')
      return no_duration("must not have a fraction",
                         "write whole numbers, for example \"1m30s\" for one and a half minutes");
    const std::string_view unit = take_run(text, at, false);
    std::size_t which = 0;
    while (which < prometheus_units.size() && prometheus_units[which].text != unit) ++which;
    if (which == prometheus_units.size())
      return wrong_unit(text, digits, unit, digits.size() + unit.size() == text.size());
    if (which < next_unit)
      return no_duration(fmt::format("has the unit {} after a smaller or equal one", prometheus_units[which].text),
                         "write each unit once and the larger ones first, for example \"1h30m\"");
    next_unit = which + 1;
    std::uint64_t amount = 0;
    bool overflow = false;
    for (const char c : digits) {
      overflow = overflow || __builtin_mul_overflow(amount, std::uint64_t{10}, &amount) ||
                 __builtin_add_overflow(amount, static_cast<std::uint64_t>(c - '0'), &amount);
    }
    overflow = overflow || __builtin_mul_overflow(amount, prometheus_units[which].nanoseconds, &amount) ||
               __builtin_add_overflow(total, amount, &total) || total > longest_ns;
    if (overflow) return no_duration("is out of range", "write a duration of at most 290 years");
  }
  return std::chrono::milliseconds(static_cast<std::int64_t>(total) / ns_per_ms);
}

std::expected<std::chrono::nanoseconds, Problem> parse_go_duration(std::string_view text) {
  if (text.empty()) return no_duration("must be a duration, but is empty");
  std::size_t at = 0;
  const bool negative = text[0] == '-';
  if (text[0] == '-' || text[0] == '+') ++at;
  if (text.substr(at) == "0") return std::chrono::nanoseconds(0);
  if (at == text.size()) return no_duration("is no duration: there is no number behind the sign");
  constexpr std::uint64_t bound = std::uint64_t{1} << 63U;
  const auto out_of_range = [] { return no_duration("is out of range", "write a duration of at most 290 years"); };
  std::uint64_t total = 0;
  while (at < text.size()) {
    const std::string_view digits = take_run(text, at, true);
    std::string_view fraction;
    if (at < text.size() && text[at] == '.') {
      ++at;
      fraction = take_run(text, at, true);
    }
    if (digits.empty() && fraction.empty())
      return no_duration(
          fmt::format("must be a duration, but {} stands where a digit belongs", place_character(text, at)));
    const std::string_view unit = take_run(text, at, false);
    if (unit.empty()) return no_duration("has no unit");
    std::size_t which = 0;
    while (which < go_units.size() && go_units[which].text != unit) ++which;
    if (which == go_units.size())
      return no_duration(fmt::format("is no duration: no unit begins with {}",
                                     place_character(text, static_cast<std::size_t>(unit.data() - text.data()))),
                         "use the units h, m, s, ms, us and ns, for example \"1h30m\" or \"1.5s\"");
    std::uint64_t amount = 0;
    for (const char c : digits) {
      if (__builtin_mul_overflow(amount, std::uint64_t{10}, &amount) ||
          __builtin_add_overflow(amount, static_cast<std::uint64_t>(c - '0'), &amount) || amount > bound)
        return out_of_range();
    }
    const std::uint64_t scale = go_units[which].nanoseconds;
    if (__builtin_mul_overflow(amount, scale, &amount) || amount > bound) return out_of_range();
    // As Go: digits of the fraction beyond 63 bits are dropped.
    std::uint64_t part = 0;
    double weight = 1;
    for (const char c : fraction) {
      if (part > longest_ns / 10) break;
      const std::uint64_t next = part * 10 + static_cast<std::uint64_t>(c - '0');
      if (next > bound) break;
      part = next;
      weight *= 10;
    }
    amount += static_cast<std::uint64_t>(static_cast<double>(part) * (static_cast<double>(scale) / weight));
    if (amount > bound || __builtin_add_overflow(total, amount, &total) || total > bound) return out_of_range();
  }
  if (negative) return std::chrono::nanoseconds(static_cast<std::int64_t>(~total + 1));
  if (total > longest_ns) return out_of_range();
  return std::chrono::nanoseconds(static_cast<std::int64_t>(total));
}

}  // namespace stackgate::validate::grammar
