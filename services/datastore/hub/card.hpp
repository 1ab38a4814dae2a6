// The metadata at the head of a README.md: YAML between two lines "---". Pure.
#pragma once
#include <optional>
#include <string>
#include <string_view>

namespace stackgate::datastore::hub {

/// Nothing when the text does not begin with such a block.
std::optional<std::string_view> front_matter(std::string_view readme);

/// `{"errors":[{"message"}],"warnings":[…]}`
std::string validation(std::string_view readme);

}  // namespace stackgate::datastore::hub
