// Changes that the server itself makes: commits from the Hugging Face API and the pages, branches, tags. Each takes the
// repository's lock (lock.hpp), the same that a push takes, and moves references by compare-and-swap.
#pragma once
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "services/datastore/git/objects.hpp"

namespace stackgate::datastore::git {

struct Change {
  enum class Kind : std::uint8_t { put, remove, remove_folder };
  Kind kind = Kind::put;
  std::string path;       // checked: no "..", no ".git", no empty segment, no control character
  std::string content{};  // put
};

struct CommitRequest {
  std::string branch;  // created when it does not exist (from nothing, or from `parent`)
  std::string message;
  Signature author, committer;
  Oid parent{};              // demanded tip; empty: whatever it is (retried when somebody else was faster)
  bool allow_empty = false;  // otherwise a commit that changes nothing returns the tip
};

struct Committed {
  Oid oid, before;  // before is empty for a new branch
  bool changed = true;
};

/// Changes on their way into one commit. Files are stored as they come, while the repository is not locked yet, so that
/// a slow client holds up nobody.
class ChangeSet {
 public:
  explicit ChangeSet(std::string repository_path);
  ~ChangeSet();
  ChangeSet(const ChangeSet&) = delete;
  ChangeSet& operator=(const ChangeSet&) = delete;
  Expected<void> add(const Change& change);
  /// Once. Objects reach the disk (fsync) before the reference moves. Fault::conflict: `parent` is not the tip.
  Expected<Committed> commit(const CommitRequest& request);

 private:
  struct Impl;
  const std::unique_ptr<Impl> impl_;
};
/// All at once.
Expected<Committed> commit_changes(const std::string& repository_path, const CommitRequest& request,
                                   const std::vector<Change>& changes);

Expected<void> create_branch(const std::string& repository_path, std::string_view name, const Oid& at, bool overwrite);
Expected<void> delete_branch(const std::string& repository_path, std::string_view name);
/// Lightweight without a message.
Expected<void> create_tag(const std::string& repository_path, std::string_view name, const Oid& at,
                          std::string_view message, const Signature& tagger);
Expected<void> delete_tag(const std::string& repository_path, std::string_view name);
Expected<void> set_default_branch(const std::string& repository_path, std::string_view name);

/// A bare repository with our configuration (no hooks, fsck of what comes in, HEAD at refs/heads/<branch>), complete or
/// not there at all.
Expected<void> create_repository(const std::string& repository_path, std::string_view default_branch);

}  // namespace stackgate::datastore::git
