// What is in a repository: references, commits, trees, blobs. Reads through libgit2, which stays behind the .cpp files
// of this folder. One Repository object belongs to one thread at a time; opening is cheap. It sees packs that others
// add.
#pragma once
#include <chrono>
#include <cstdint>
#include <expected>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "services/kit/base/service_error.hpp"

namespace stackgate::datastore::git {

using Oid = std::string;  // 40 lower-case hex digits

enum class Fault : std::uint8_t { missing, invalid, conflict, exists, too_large, full, broken };

struct GitError {
  Fault fault = Fault::broken;
  std::string message;  // for a person; names the revision or path

  /// So that TRY passes it on. Full and broken are logged, for their words name our folders.
  operator ServiceError() const;
};

template <typename T>
using Expected = std::expected<T, GitError>;

enum class EntryKind : std::uint8_t { file, executable, symlink, folder, submodule };

/// An LFS pointer (https://github.com/git-lfs/git-lfs/blob/main/docs/spec.md) found in a blob of at most 1,024 bytes.
struct LfsPointer {
  std::string oid;  // sha-256, hex
  std::uint64_t size = 0;
  std::uint64_t pointer_size = 0;
};

struct Entry {
  std::string path;  // from the root, raw bytes
  EntryKind kind = EntryKind::file;
  Oid oid;
  std::uint64_t size = 0;           // of the blob; 0 for folders and submodules
  std::optional<LfsPointer> lfs{};  // filled where TreeOptions asks
};

struct Signature {
  std::string name, email;
  std::int64_t seconds = 0;  // since 1970, UTC
  int offset_minutes = 0;
};

struct Commit {
  Oid oid, tree;
  std::vector<Oid> parents;
  Signature author, committer;
  std::string message;  // whole; title() is its first line
  std::string title() const { return message.substr(0, message.find('\n')); }
};

struct Ref {
  std::string name;  // refs/heads/main
  Oid oid;           // what it points at
  Oid peeled;        // the commit behind an annotated tag; otherwise empty
};

struct TreeOptions {
  bool recursive = false;
  bool sizes = true;
  bool lfs = false;     // look into small blobs for pointers
  std::string after{};  // paging: entries behind this path
  std::size_t limit = 1000;
};

struct DiffLine {
  char origin;  // '+', '-', ' '
  int old_line, new_line;
  std::string text;
};
struct DiffHunk {
  std::string header;
  std::vector<DiffLine> lines;
};
struct DiffFile {
  std::string old_path, new_path;  // one is empty for added and deleted
  bool binary = false, truncated = false;
  std::uint64_t added = 0, removed = 0;
  std::vector<DiffHunk> hunks;
};
struct DiffLimits {
  std::size_t files = 300, lines_per_file = 2'000, bytes = 2 * 1024 * 1024;
};

class Repository {
 public:
  static Expected<std::unique_ptr<Repository>> open(const std::string& path);
  ~Repository();
  Repository(const Repository&) = delete;
  Repository& operator=(const Repository&) = delete;

  Expected<std::vector<Ref>> refs();  // refs/heads/ and refs/tags/, sorted
  /// A branch, a tag, a full reference, "HEAD" or a commit id of at least 7 digits, in this order. A commit.
  Expected<Oid> resolve(std::string_view revision);
  Expected<Commit> commit(const Oid& oid);
  /// Of a commit, or of a tree by its own id. `path` empty: the root. An error when it is a file.
  Expected<std::vector<Entry>> tree(const Oid& commit, std::string_view path, const TreeOptions& options);
  /// The entry at a path, with its LFS pointer if it is one.
  Expected<Entry> entry(const Oid& commit, std::string_view path);
  /// A blob's bytes; Fault::too_large when it has more than `largest`.
  Expected<std::string> blob(const Oid& oid, std::uint64_t largest);
  /// The same in pieces; `take` returns false to stop.
  Expected<void> stream_blob(const Oid& oid, const std::function<bool(std::string_view)>& take);
  /// From `commit` backwards, newest first; with a path, only commits that changed it.
  Expected<std::vector<Commit>> log(const Oid& commit, std::string_view path, std::size_t skip, std::size_t limit);
  Expected<std::size_t> count_commits(const Oid& commit, std::size_t at_most);
  /// For each of the names in one folder, the newest commit that changed it. Looks at most `at_most` commits back;
  /// what it did not find by then is missing.
  Expected<std::vector<std::pair<std::string, Commit>>> last_commits(const Oid& commit, std::string_view folder,
                                                                     const std::vector<std::string>& names,
                                                                     std::size_t at_most);
  /// Walks through history (log, count_commits, last_commits) end then, with what they have found; out_of_time()
  /// returns whether one did. Without it they take as long as they take: minutes, in a large folder with a long
  /// history.
  void set_deadline(std::chrono::steady_clock::time_point deadline);
  bool out_of_time() const;
  /// `from` empty: against the empty tree.
  Expected<std::vector<DiffFile>> diff(const Oid& from, const Oid& to, const DiffLimits& limits);

 private:
  struct Impl;
  explicit Repository(std::unique_ptr<Impl> impl);
  const std::unique_ptr<Impl> impl_;
};

}  // namespace stackgate::datastore::git
