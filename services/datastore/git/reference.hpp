// One reference, read and moved as git's "files" backend does it: loose file over packed-refs, "<name>.lock" created
// exclusively, written, synced, renamed. git's own processes work beside it under the same locks.
#pragma once
#include <optional>
#include <string>
#include <string_view>

#include "services/datastore/git/lock.hpp"
#include "services/datastore/git/objects.hpp"

namespace stackgate::datastore::git {

struct Target {
  Oid oid{};               // one of the two is set
  std::string symbolic{};  // "refs/heads/main"
};

/// The content of a loose reference or of HEAD; nothing when it is neither an id nor "ref: <name>".
std::optional<Target> parse_reference(std::string_view text);

/// Nothing when there is none.
Expected<std::optional<Target>> read_reference(const std::string& repository, const std::string& name);

/// Moves `name` from `before` (empty: it must not exist) to `after`. Fault::conflict when it is elsewhere or somebody
/// else is moving it, Fault::exists when another reference's name is in the way ("a" and "a/b").
Expected<void> move_reference(const std::string& repository, const std::string& name, const Oid& before,
                              const Oid& after, const WriterLock* own);

/// Points a symbolic reference (HEAD) at a branch, born or not.
Expected<void> point_symbolic(const std::string& repository, const std::string& name, const std::string& target,
                              const WriterLock* own);

}  // namespace stackgate::datastore::git
