// What a setting is called where it is written. Pure.
#pragma once
#include <string>
#include <string_view>
#include <vector>

#include "services/kit/settings/settings.hpp"

namespace stackgate::settings {

/// "STACKGATE_DATA_DIR", or its own; no_variable where it has none.
std::string variable_of(const Setting& setting);
/// What is typed: "--data-dir", and for a secret "--database-password-file".
std::string flag_of(const Setting& setting);

/// "STACKGATE_OUTPUT (for --output)".
std::string in_variable(const Setting& setting);
/// What --help shows behind a flag: " VALUE".
std::string placeholder_of(const Setting& setting);
/// Of a setting of Kind::list.
std::vector<std::string> items_of(std::string_view list);

/// Whether a command reads it; null stands for all commands.
bool is_used(const Setting& setting, const Command* command);

}  // namespace stackgate::settings
