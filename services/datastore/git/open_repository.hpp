// Repository on libgit2. The parts stand in repository.cpp, tree.cpp, history.cpp, diff.cpp.
#pragma once
#include <chrono>
#include <optional>
#include <string>

#include "services/datastore/git/library.hpp"

namespace stackgate::datastore::git {

class OpenRepository final : public Repository {
 public:
  OpenRepository(std::string path, RepositoryHandle handle, OdbHandle odb)
      : path_(std::move(path)), handle_(std::move(handle)), odb_(std::move(odb)) {}

  Expected<std::vector<Ref>> refs() override;
  Expected<std::string> head_branch() override;
  Expected<Oid> resolve(std::string_view revision) override;
  Expected<Commit> commit(const Oid& oid) override;
  Expected<std::vector<Entry>> tree(const Oid& commit, std::string_view path, const TreeOptions& options) override;
  Expected<Entry> entry(const Oid& commit, std::string_view path) override;
  Expected<std::string> blob(const Oid& oid, std::uint64_t largest) override;
  Expected<void> stream_blob(const Oid& oid, const std::function<bool(std::string_view)>& take) override;
  Expected<std::vector<Commit>> log(const Oid& commit, std::string_view path, std::size_t skip,
                                    std::size_t limit) override;
  Expected<std::size_t> count_commits(const Oid& commit, std::size_t at_most) override;
  Expected<std::vector<std::pair<std::string, Commit>>> last_commits(const Oid& commit, std::string_view folder,
                                                                     const std::vector<std::string>& names,
                                                                     std::size_t at_most) override;
  void set_deadline(std::chrono::steady_clock::time_point deadline) override { deadline_ = deadline; }
  bool out_of_time() const override { return out_of_time_; }
  Expected<std::vector<DiffFile>> diff(const Oid& from, const Oid& to, const DiffLimits& limits) override;

 private:
  Expected<CommitHandle> lookup_commit(const git_oid& oid);
  Expected<CommitHandle> lookup_commit(std::string_view oid);
  Expected<TreeHandle> lookup_tree(const git_oid& oid);
  /// The tree of a commit, or of one of its folders.
  Expected<TreeHandle> folder_at(const Oid& commit, std::string_view path);
  Expected<Oid> peel_to_commit(git_object* object, std::string_view revision);
  /// Size and pointer of a blob, as asked for.
  Expected<void> describe(Entry& entry, bool size, bool lfs);
  Expected<void> list(const git_tree& tree, const std::string& prefix, std::string_view after,
                      const TreeOptions& options, std::vector<Entry>& out);
  friend struct HistoryWalk;

  const std::string path_;
  RepositoryHandle handle_;
  OdbHandle odb_;
  std::optional<std::chrono::steady_clock::time_point> deadline_{};
  bool out_of_time_ = false;
};

Commit to_commit(const git_commit& commit);
Entry to_entry(const git_tree_entry& entry, std::string path);

}  // namespace stackgate::datastore::git
