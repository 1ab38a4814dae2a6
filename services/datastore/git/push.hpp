// Before and after git's receive-pack.
#pragma once
#include <string>
#include <vector>

#include "services/datastore/git/lock.hpp"
#include "services/datastore/git/protocol.hpp"

namespace stackgate::datastore::git {

/// Removes lock files that dead writers left on what the push wants to move.
void clear_way(const std::string& repository, const std::vector<PushCommand>& commands, const WriterLock& own);

struct Pushed {
  std::size_t moved = 0;      // commands that came about
  std::string new_default{};  // the branch that HEAD was moved to, because the one it named was never born
};

/// Beyond so many references, one sync of the file system is cheaper than one for each of their files.
inline constexpr std::size_t many_references = 100;

/// Makes what was pushed survive a power cut (git syncs files, not the folders that name them), and looks what came
/// about.
Pushed settle_push(const std::string& repository, const std::vector<PushCommand>& commands);

}  // namespace stackgate::datastore::git
