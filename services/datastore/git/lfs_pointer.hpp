// Git LFS pointer files (https://github.com/git-lfs/git-lfs/blob/main/docs/spec.md). Pure.
#pragma once
#include <optional>
#include <string>
#include <string_view>

#include "services/datastore/git/objects.hpp"

namespace stackgate::datastore::git {

inline constexpr std::size_t lfs_pointer_most = 1024;  // bytes; a larger file is no pointer

std::optional<LfsPointer> parse_lfs_pointer(std::string_view text);
std::string format_lfs_pointer(std::string_view sha256_hex, std::uint64_t size);

}  // namespace stackgate::datastore::git
