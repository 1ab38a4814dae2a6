// Names of a directory whose links may lead anywhere.
#pragma once
#include <expected>
#include <string>
#include <string_view>

#include "services/kit/findings/finding.hpp"

namespace stackgate::model {

/// Where `name` of `directory` lies without links, when that is inside of it. The finding: it leads out of it, or it is
/// not there.
std::expected<std::string, validate::Finding> place_inside(const std::string& directory, std::string_view name);

}  // namespace stackgate::model
