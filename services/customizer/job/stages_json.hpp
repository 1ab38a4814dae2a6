// The stages of a customization as they are stored. Pure and thread-safe.
#pragma once
#include <array>
#include <string>
#include <string_view>

#include "services/customizer/job/customization.hpp"

namespace stackgate::customizer {

/// A list of three objects; it reads as the same again.
std::string stages_json(const std::array<StageRecord, 3>& stages);
/// Of what that wrote; of anything else: three that have not begun.
std::array<StageRecord, 3> read_stages(std::string_view json);

}  // namespace stackgate::customizer
