// The text of --help. Pure.
#pragma once
#include <cstddef>
#include <string>
#include <string_view>

#include "services/kit/settings/settings.hpp"

namespace stackgate::settings {

/// `command`: what it uses, only; null for all settings. At most Program::columns wide.
std::string help_text(const Program& program, const Command* command = nullptr);

/// Lines that are too long go on under their description, where they have one: behind the first gap of two blanks.
/// Words are never cut; each character counts as one column.
std::string wrap(std::string_view text, std::size_t columns);

}  // namespace stackgate::settings
