// strftime() in the C locale. Pure.
#pragma once
#include <chrono>
#include <string>
#include <string_view>

namespace stackgate::jinja {

/// The conversions of C and of glibc that have no zone; `%-d` leaves out the padding. Others stay as they are written.
std::string strftime(std::chrono::local_seconds time, std::string_view format);

}  // namespace stackgate::jinja
