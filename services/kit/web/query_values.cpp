#include "services/kit/web/query_values.hpp"

#include <algorithm>
#include <vector>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "services/kit/base/number.hpp"
#include "services/kit/findings/nearest.hpp"
#include "services/kit/web/body_schema.hpp"
#include "services/kit/web/errors.hpp"

namespace stackgate::web {

Failure wrong_parameter(std::string_view name, std::string problem, std::string fix) {
  return unprocessable({{.rule = query_rule,
                         .path = fmt::format("query.{}", name),
                         .problem = std::move(problem),
                         .fix = std::move(fix)}});
}

std::expected<bool, Failure> read_flag(const Query& query, std::string_view name) {
  const auto given = query.get(name);
  if (!given || *given == "false" || *given == "0") return false;
  if (given->empty() || *given == "true" || *given == "1") return true;
  return std::unexpected(
      wrong_parameter(name, "is neither true nor false", fmt::format("write {}=true, or leave it out", name)));
}

std::expected<std::int64_t, Failure> read_number(const Query& query, std::string_view name, std::int64_t fallback,
                                                 std::int64_t least) {
  const auto given = query.get(name);
  if (!given) return fallback;
  const auto number = to_number<std::int64_t>(*given);
  if (number && *number >= least) return *number;
  return std::unexpected(wrong_parameter(name, fmt::format("is no whole number from {}", least),
                                         fmt::format("write {}={}", name, fallback)));
}

std::expected<std::string_view, Failure> read_word(const Query& query, std::string_view name,
                                                   std::span<const std::string_view> known) {
  const auto given = query.get(name);
  if (!given || given->empty() || std::ranges::find(known, *given) != known.end()) return given.value_or("");
  const std::string_view near = validate::nearest(*given, std::vector<std::string_view>(known.begin(), known.end()));
  return std::unexpected(wrong_parameter(name, fmt::format("\"{}\" is none", *given),
                                         near.empty() ? fmt::format("write one of {}", fmt::join(known, ", "))
                                                      : fmt::format("did you mean \"{}\"?", near)));
}

std::expected<void, Failure> only_filters(const Query& query, std::span<const std::string_view> known) {
  for (const auto& [name, value] : query.pairs()) {
    if (!name.starts_with("filter") || std::ranges::find(known, name) != known.end()) continue;
    const std::string_view near = validate::nearest(name, std::vector<std::string_view>(known.begin(), known.end()));
    return std::unexpected(wrong_parameter(
        name, "filters nothing here",
        near.empty() ? fmt::format("there are {}", fmt::join(known, ", ")) : fmt::format("did you mean {}?", near)));
  }
  return {};
}

}  // namespace stackgate::web
