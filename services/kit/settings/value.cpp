#include "services/kit/settings/value.hpp"

#include <algorithm>
#include <charconv>
#include <limits>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "services/kit/base/try.hpp"
#include "services/kit/findings/nearest.hpp"
#include "services/kit/grammar/characters.hpp"
#include "services/kit/grammar/duration.hpp"
#include "services/kit/grammar/host.hpp"
#include "services/kit/grammar/quantity.hpp"
#include "services/kit/grammar/url.hpp"
#include "services/kit/settings/names.hpp"

namespace stackgate::settings {
namespace value_detail {

using validate::grammar::Problem;
using Checked = std::expected<std::string, Problem>;

std::unexpected<Problem> refuse(std::string problem, std::string fix) {
  return std::unexpected(Problem{std::move(problem), std::move(fix)});
}

Checked within(const Setting& setting, std::int64_t value, std::int64_t unit, std::string_view unit_name) {
  const auto scaled = [&](std::int64_t bound) {
    return bound > std::numeric_limits<std::int64_t>::max() / unit ? std::numeric_limits<std::int64_t>::max()
                                                                   : bound * unit;
  };
  const auto words = [&](std::int64_t bound) { return fmt::format("{}{}", bound, unit_name); };
  if (value < scaled(setting.at_least)) {
    return refuse(fmt::format("must be at least {}", words(setting.at_least)),
                  fmt::format("write {} or more", words(setting.at_least)));
  }
  if (value > scaled(setting.at_most)) {
    return refuse(fmt::format("must be at most {}", words(setting.at_most)),
                  fmt::format("write {} or less", words(setting.at_most)));
  }
  return std::to_string(value);
}

Checked integer(const Setting& setting, std::string_view text) {
  std::int64_t value = 0;
  const auto [end, fault] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (fault == std::errc::result_out_of_range) return refuse("is too large a number", "write a smaller one");
  if (fault != std::errc() || end != text.data() + text.size()) {
    return refuse("must be a whole number",
                  fmt::format("write digits, for example {}", setting.fallback.empty() ? "8" : setting.fallback));
  }
  return within(setting, value, 1, "");
}

Checked duration(const Setting& setting, std::string_view text) {
  const auto value = TRY(validate::grammar::parse_go_duration(text));
  return within(setting, std::chrono::duration_cast<std::chrono::milliseconds>(value).count(), 1000, "s");
}

Checked size(const Setting& setting, std::string_view text) {
  const auto value = TRY(validate::grammar::parse_quantity(text));
  if (!value.to_integer()) return refuse("must be a whole number of bytes", "write for example 512Mi or 10Gi");
  return within(setting, *value.to_integer(), 1, " bytes");
}

Checked flag(std::string_view text) {
  const std::string word = validate::grammar::to_lower(text);
  if (word == "true" || word == "1" || word == "yes" || word == "on") return "true";
  if (word == "false" || word == "0" || word == "no" || word == "off") return "false";
  return refuse("must be true or false", "write true or false");
}

/// host:port as the grammar has it, and beyond it no host (every address) and port 0 (any free one).
Checked listen(std::string_view text) {
  std::string asked(text);
  if (asked.starts_with(':')) asked.insert(0, "localhost");
  if (asked.ends_with(":0")) asked.back() = '1';
  TRY(validate::grammar::parse_host_port(asked));
  return std::string(text);
}

Checked choice(const Setting& setting, std::string_view text) {
  if (std::ranges::find(setting.choices, text) != setting.choices.end()) return std::string(text);
  const auto near = validate::nearest(text, setting.choices);
  return refuse(fmt::format("must be one of {}", fmt::join(setting.choices, ", ")),
                near.empty() ? fmt::format("write {}", setting.choices.empty() ? "" : setting.choices.front())
                             : fmt::format("write {}", near));
}

}  // namespace value_detail

std::expected<std::string, validate::grammar::Problem> check_value(const Setting& setting, std::string_view text) {
  using namespace value_detail;
  if (text.contains('\0')) return refuse("must not hold a NUL", "write it without");
  if (setting.check) {
    const std::string one(text);
    for (const std::string& each : setting.kind == Kind::list ? items_of(text) : std::vector{one})
      if (std::string problem = setting.check(each); !problem.empty()) return refuse(std::move(problem), {});
  }
  switch (setting.kind) {
    case Kind::integer:
      return integer(setting, text);
    case Kind::duration:
      return duration(setting, text);
    case Kind::size:
      return size(setting, text);
    case Kind::flag:
      return flag(text);
    case Kind::listen:
      return listen(text);
    case Kind::choice:
      return choice(setting, text);
    case Kind::url:
      TRY(validate::grammar::parse_http_url(text));
      break;
    case Kind::secret:
    case Kind::text:
    case Kind::directory:
    case Kind::list:
      break;
  }
  return std::string(text);
}

}  // namespace stackgate::settings
