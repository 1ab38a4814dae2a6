// RFC 1952, for bodies on their way out. Pure.
#pragma once
#include <string>
#include <string_view>

namespace stackgate::telemetry {

/// Fast rather than small: telemetry compresses well as it is.
std::string gzip(std::string_view text);

}  // namespace stackgate::telemetry
