// Checks of a call before it is made. Pure.
#pragma once
#include <optional>
#include <string>

#include "services/kit/http_client/client.hpp"

namespace stackgate::http_client {

/// What would let one header become two, or the request line a second one; nothing when the call is sound.
std::optional<std::string> fault_of(const Request& call);

}  // namespace stackgate::http_client
