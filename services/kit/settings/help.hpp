// The text of --help, at most 100 columns wide. Pure.
#pragma once
#include <string>

#include "services/kit/settings/settings.hpp"

namespace stackgate::settings {

std::string help_text(const Program& program);

}  // namespace stackgate::settings
