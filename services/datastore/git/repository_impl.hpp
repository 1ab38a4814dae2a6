// What a Repository holds of libgit2. Its functions stand in repository.cpp, tree.cpp, history.cpp, diff.cpp.
#pragma once
#include <chrono>
#include <optional>
#include <string>

#include "services/datastore/git/library.hpp"
#include "services/kit/base/try.hpp"

namespace stackgate::datastore::git {

struct Repository::Impl {
  const std::string location;
  const RepositoryHandle handle;
  const OdbHandle odb;
  std::optional<std::chrono::steady_clock::time_point> deadline{};
  bool out_of_time = false;

  struct HistoryWalk;

  Expected<CommitHandle> commit_at(const git_oid& id) { return lookup_commit(handle.get(), id); }
  Expected<CommitHandle> commit_at(std::string_view oid) { return lookup_commit(handle.get(), TRY(commit_id(oid))); }
  Expected<TreeHandle> tree_at(const git_oid& id) { return lookup_tree(handle.get(), id); }
  /// The tree of a commit, or of one of its folders.
  Expected<TreeHandle> folder_at(const Oid& commit, std::string_view path);
  Expected<std::string> blob(const Oid& oid, std::uint64_t largest);
  /// Size and pointer of a blob, as asked for.
  Expected<void> describe(Entry& entry, bool size, bool lfs);
  Expected<void> list(const git_tree& tree, const std::string& prefix, std::string_view after,
                      const TreeOptions& options, std::vector<Entry>& out);
};

Commit to_commit(const git_commit& commit);

}  // namespace stackgate::datastore::git
