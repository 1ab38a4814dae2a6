// Room in a directory of files that can be made again.
#pragma once
#include <cstdint>
#include <string>
#include <string_view>

namespace stackgate::evaluator {

/// Removes the files that were written or marked longest ago, until those that are left have at most `bytes`. Files
/// whose names begin with `but` stay. What cannot be removed stays, too.
void make_room(const std::string& directory, std::uint64_t bytes, std::string_view but);

/// As written now.
void mark_used(const std::string& path);

}  // namespace stackgate::evaluator
