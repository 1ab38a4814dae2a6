// What a setting is called where it is written. Pure.
#pragma once
#include <string>

#include "services/kit/settings/settings.hpp"

namespace stackgate::settings {

/// "STACKGATE_DATA_DIR", or its own.
std::string variable_of(const Setting& setting);
/// What is typed: "--data-dir", and for a secret "--database-password-file".
std::string flag_of(const Setting& setting);

}  // namespace stackgate::settings
