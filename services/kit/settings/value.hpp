// Judges one setting's text by its kind. Pure.
#pragma once
#include <expected>
#include <string>
#include <string_view>

#include "services/kit/grammar/problem.hpp"
#include "services/kit/settings/settings.hpp"

namespace stackgate::settings {

/// The value as it is kept: durations in ms, sizes in bytes, flags as "true" or "false", the rest as written.
/// The problem of a secret never quotes it.
std::expected<std::string, validate::grammar::Problem> check_value(const Setting& setting, std::string_view text);

}  // namespace stackgate::settings
