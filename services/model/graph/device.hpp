// What this libtorch can compute on.
#pragma once
#include <expected>
#include <optional>
#include <string>

#include "services/model/directory/placement.hpp"

namespace stackgate::model {

/// Nothing asked: a GPU where there is one. The error is a sentence: --device cuda cannot be had here.
std::expected<Device, std::string> usable_device(std::optional<Device> asked);

}  // namespace stackgate::model
