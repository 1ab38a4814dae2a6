#pragma once

namespace stackgate {
inline constexpr const char* version = "0.1.0";
}
