// Values of a query: switches, numbers, and one of several words, with the 422 that names the nearest. Pure.
#pragma once
#include <cstdint>
#include <expected>
#include <span>
#include <string>
#include <string_view>

#include "services/kit/web/answer.hpp"
#include "services/kit/web/query.hpp"

namespace stackgate::web {

/// 422 about one parameter of the query.
Failure wrong_parameter(std::string_view name, std::string problem, std::string fix);

/// "?dry_run", "=true", "=1" are on; absent, "=false", "=0" are off; all else is 422.
std::expected<bool, Failure> read_flag(const Query& query, std::string_view name);

/// `fallback` where it is absent; 422 for what is no whole number from `least` on.
std::expected<std::int64_t, Failure> read_number(const Query& query, std::string_view name, std::int64_t fallback,
                                                 std::int64_t least = 0);

/// Empty where it is absent; 422 where it is none of them.
std::expected<std::string_view, Failure> read_word(const Query& query, std::string_view name,
                                                   std::span<const std::string_view> known);

/// 422 for a parameter "filter[…]" that is none of `known`, such as "filter[state]": what is not known would filter
/// nothing.
std::expected<void, Failure> only_filters(const Query& query, std::span<const std::string_view> known);

}  // namespace stackgate::web
