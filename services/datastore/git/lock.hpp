// Who writes to a repository: locks that replicas on one volume share, as flock(2) on files in the repository. The
// kernel drops them with the last descriptor, so a killed process leaves none behind.
//
//   stackgate.writers  shared by all that move references (pushes hold it through their git process, which inherits the
//                      descriptor and may outlive us). Whoever gets it exclusively knows that nobody is writing, and
//                      that any "*.lock" beside a reference is left over.
//   stackgate.commits  exclusive: one commit of ours at a time, so that they queue instead of failing against each
//   other.
#pragma once
#include <chrono>
#include <string>

#include "services/datastore/git/objects.hpp"
#include "services/kit/files/file.hpp"

namespace stackgate::datastore::git {

/// Held as long as it lives, and by every child that inherits fd().
class WriterLock {
 public:
  /// Waits only while somebody cleans up (milliseconds).
  static Expected<WriterLock> share(const std::string& repository);
  int fd() const { return file_.fd(); }

 private:
  explicit WriterLock(files::File file) : file_(std::move(file)) {}
  files::File file_;
};

/// One commit at a time; first come, first served within this process. Holds a WriterLock too.
class CommitLock {
 public:
  /// Fault::conflict when it did not become free in time.
  static Expected<CommitLock> take(const std::string& repository, std::chrono::milliseconds limit);
  CommitLock(CommitLock&& other) noexcept;
  CommitLock& operator=(CommitLock&&) = delete;
  ~CommitLock();
  const WriterLock& writer() const { return writer_; }

 private:
  CommitLock(std::string repository, files::File file, WriterLock writer)
      : repository_(std::move(repository)), file_(std::move(file)), writer_(std::move(writer)) {}
  std::string repository_;
  files::File file_;
  WriterLock writer_;
};

/// Removes `path`, a "….lock" that somebody left: when nobody is writing, or when it is older than an hour. `own` is
/// the caller's WriterLock, given up for the moment of looking. True when it is gone.
bool remove_stale_lock(const std::string& repository, const std::string& path, const WriterLock* own);

}  // namespace stackgate::datastore::git
