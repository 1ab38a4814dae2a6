// Times as the tables hold them: RFC 3339, UTC, whole seconds, "2026-01-31T09:08:07Z"; they sort as texts. Pure.
#pragma once
#include <chrono>
#include <optional>
#include <string>
#include <string_view>

namespace stackgate::datastore {

std::string to_rfc3339(std::chrono::system_clock::time_point time);
/// What to_rfc3339() writes, nothing else.
std::optional<std::chrono::system_clock::time_point> from_rfc3339(std::string_view text);

}  // namespace stackgate::datastore
