// Files of this folder, and what is said when the system refuses one. Internal.
#pragma once
#include <expected>
#include <string>
#include <string_view>
#include <system_error>

#include <fmt/format.h>
#include <sys/types.h>

#include "services/kit/base/error.hpp"

namespace stackgate::customizer::local_files {

inline constexpr mode_t own_file = 0600;

/// "make /data/jobs: No space left on device"
inline std::unexpected<Error> refused(std::string_view what, const std::string& path, int error) {
  return std::unexpected(Error{fmt::format("{} {}: {}", what, path, std::generic_category().message(error))});
}

}  // namespace stackgate::customizer::local_files
