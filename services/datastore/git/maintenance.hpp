// What a repository needs now and then. All of it is safe beside readers, pushes and commits of any replica; objects
// younger than two weeks are never pruned.
#pragma once
#include <cstdint>
#include <functional>
#include <string>
#include <vector>

#include "services/datastore/git/lfs_pointer.hpp"
#include "services/datastore/git/objects.hpp"

namespace stackgate::datastore::git {

enum class Upkeep : std::uint8_t {
  when_needed,  // packs small packs and loose objects together once there are many (seconds), else nothing
  thorough,     // repacks everything, packs references, prunes what nothing has reached for two weeks (minutes)
};

/// Also removes what killed processes left: lock files of references, quarantined packs, temporary files.
/// True when there was something to do.
Expected<bool> maintain(const std::string& repository_path, Upkeep upkeep);

/// `git fsck`: one line for each fault; empty when all is well. Reads every object.
Expected<std::vector<std::string>> fsck(const std::string& repository_path);

/// Bytes on disk: objects and packs.
Expected<std::uint64_t> disk_size(const std::string& repository_path);

/// Every LFS pointer among the repository's objects, whether or not a reference reaches it; one may come twice.
Expected<void> each_lfs_pointer(const std::string& repository_path,
                                const std::function<void(const LfsPointer&)>& visit);

}  // namespace stackgate::datastore::git
