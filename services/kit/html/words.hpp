// Numbers and times as a person reads them. Pure.
#pragma once
#include <cstdint>
#include <string>
#include <string_view>

#include "services/kit/html/html.hpp"

namespace stackgate::html {

/// "17 B", "4.2 kB", "1.5 GB": powers of 1,000.
std::string size_words(std::uint64_t bytes);
/// "1,234,567"
std::string grouped(std::uint64_t number);
/// "1 commit", "3 commits"
std::string counted(std::uint64_t count, std::string_view word);

/// "just now", "5 minutes ago", "3 days ago", "in 2 days"; beyond a month the date.
std::string ago_words(std::int64_t seconds, std::int64_t now);
/// "2026-01-31 17:04 UTC"
std::string date_words(std::int64_t seconds);
/// Seconds since 1970 of an RFC 3339 time in UTC; 0 when it is none.
std::int64_t seconds_of(std::string_view rfc3339);

/// <time> with the exact one as its title.
Html time_tag(std::int64_t seconds, std::int64_t now);

}  // namespace stackgate::html
