// What can be said about a call before it is made. Pure.
#pragma once
#include <optional>
#include <string>
#include <string_view>

#include "services/kit/fetch/client.hpp"

namespace stackgate::fetch {

bool equal_without_case(std::string_view a, std::string_view b);

/// What would let one header become two, or the request line a second one; nothing when the call is sound.
std::optional<std::string> fault_of(const Call& call);

}  // namespace stackgate::fetch
