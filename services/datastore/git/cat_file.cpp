#include "services/datastore/git/cat_file.hpp"

#include <fmt/format.h>

#include "services/datastore/git/child.hpp"

namespace stackgate::datastore::git {

Expected<void> cat_file(const std::string& repository, const Oid& oid,
                        const std::function<bool(std::string_view)>& take) {
  auto child = Child::start({{"--git-dir=" + repository, "cat-file", "blob", oid}});
  if (!child) return std::unexpected(child.error());
  (*child)->close_input();
  bool stopped = false;
  const bool whole = (*child)->drain([&](std::string_view piece) {
    stopped = !take(piece);
    return !stopped;
  });
  if (stopped) return {};
  if (!whole || (*child)->wait() != 0)
    return std::unexpected(
        GitError{Fault::broken, fmt::format("blob {} cannot be read: {}", oid, (*child)->complaints())});
  return {};
}

}  // namespace stackgate::datastore::git
