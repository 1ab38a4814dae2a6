// What can be said about a call before it is made. Pure.
#pragma once
#include <optional>
#include <string>
#include <string_view>

#include "services/kit/http_client/client.hpp"

namespace stackgate::http_client {

bool equal_without_case(std::string_view a, std::string_view b);

/// What would let one header become two, or the request line a second one; nothing when the call is sound.
std::optional<std::string> fault_of(const Request& call);

}  // namespace stackgate::http_client
