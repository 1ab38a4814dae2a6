// The text of --help, at most 100 columns wide. Pure.
#pragma once
#include <string>

#include "services/kit/settings/settings.hpp"

namespace stackgate::settings {

/// `command`: what it uses, only; null for all settings.
std::string help_text(const Program& program, const Command* command = nullptr);

}  // namespace stackgate::settings
