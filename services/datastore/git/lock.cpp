#include "services/datastore/git/lock.hpp"

#include <cerrno>
#include <condition_variable>
#include <ctime>
#include <map>
#include <mutex>
#include <thread>
#include <utility>

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include "services/datastore/git/library.hpp"
#include "services/kit/base/try.hpp"
#include "services/kit/log/log.hpp"

namespace stackgate::datastore::git {
namespace {

using LockClock = std::chrono::steady_clock;

/// Tickets of those that wait in this process, by repository.
struct Queue {
  std::uint64_t next = 0, serving = 0;
};
struct Queues {
  std::mutex mutex;
  std::condition_variable moved;
  std::map<std::string, Queue> of;
};

Queues& queues() {
  static Queues all;
  return all;
}

void leave_queue(const std::string& repository) {
  Queues& all = queues();
  {
    const std::lock_guard lock(all.mutex);
    const auto found = all.of.find(repository);
    if (++found->second.serving == found->second.next) all.of.erase(found);
  }
  all.moved.notify_all();
}

Expected<files::File> open_lock(const std::string& repository, std::string_view name) {
  const std::string path = fmt::format("{}/{}", repository, name);
  files::File file(::open(path.c_str(), O_RDWR | O_CREAT | O_CLOEXEC, 0644));
  if (!file) {
    GitError error = system_error(errno, path).error();
    if (error.fault == Fault::missing) error.fault = Fault::broken;  // the repository's folder: nothing a caller named
    return std::unexpected(std::move(error));
  }
  return file;
}

/// Locks within `limit`; 0 or errno. Waiting is polling: flock(2) has no time limit.
int lock_within(int fd, int kind, std::chrono::milliseconds limit) {
  const auto deadline = LockClock::now() + limit;
  for (auto pause = std::chrono::microseconds(200);; pause = std::min(pause * 2, std::chrono::microseconds(20'000))) {
    if (::flock(fd, kind | LOCK_NB) == 0) return 0;
    if (errno != EWOULDBLOCK && errno != EINTR) return errno;
    if (LockClock::now() >= deadline) return EWOULDBLOCK;
    std::this_thread::sleep_for(pause);
  }
}

}  // namespace

Expected<WriterLock> WriterLock::share(const std::string& repository) {
  auto file = TRY(open_lock(repository, "stackgate.writers"));
  if (const int fault = lock_within(file.fd(), LOCK_SH, std::chrono::seconds(30)); fault != 0)
    return system_error(fault, "the repository is locked for cleaning");
  return WriterLock(std::move(file));
}

Expected<CommitLock> CommitLock::take(const std::string& repository, std::chrono::milliseconds limit) {
  const auto deadline = LockClock::now() + limit;
  Queues& all = queues();
  {
    std::unique_lock lock(all.mutex);
    const std::uint64_t ticket = all.of[repository].next++;
    // Those in front hold their place for at most their own limit, so the wait ends; a ticket is never skipped.
    all.moved.wait(lock, [&] { return all.of[repository].serving == ticket; });
  }
  const auto give_up = [&](GitError error) {
    leave_queue(repository);
    return std::unexpected(std::move(error));
  };
  auto file = open_lock(repository, "stackgate.commits");
  if (!file) return give_up(file.error());
  const auto left = std::chrono::ceil<std::chrono::milliseconds>(deadline - LockClock::now());
  if (const int fault = lock_within(file->fd(), LOCK_EX, std::max(left, std::chrono::milliseconds(0))); fault != 0)
    return give_up(fault == EWOULDBLOCK
                       ? GitError{Fault::conflict, "others are writing to this repository without a pause: try again"}
                       : system_error(fault, "the repository cannot be locked").error());
  auto writer = WriterLock::share(repository);
  if (!writer) return give_up(writer.error());
  return CommitLock(repository, std::move(*file), std::move(*writer));
}

CommitLock::CommitLock(CommitLock&& other) noexcept
    : repository_(std::exchange(other.repository_, {})),
      file_(std::move(other.file_)),
      writer_(std::move(other.writer_)) {}

CommitLock::~CommitLock() {
  if (repository_.empty()) return;
  file_.close();
  leave_queue(repository_);
}

bool remove_stale_lock(const std::string& repository, const std::string& path, const WriterLock* own) {
  struct stat about{};
  if (::stat(path.c_str(), &about) != 0) return errno == ENOENT;
  auto alone = open_lock(repository, "stackgate.writers");
  if (!alone) return false;
  if (own != nullptr) ::flock(own->fd(), LOCK_UN);
  const bool nobody = lock_within(alone->fd(), LOCK_EX, std::chrono::milliseconds(0)) == 0;
  bool gone = false;
  if (nobody || about.st_mtime + 3600 < std::time(nullptr)) {
    struct stat again{};
    const bool same = ::stat(path.c_str(), &again) == 0 && again.st_ino == about.st_ino;
    gone = !same || ::unlink(path.c_str()) == 0 || errno == ENOENT;
    if (same && gone) log::warning("removed the lock of a writer that is gone", {{"file", path}});
  }
  alone->close();
  if (own != nullptr) lock_within(own->fd(), LOCK_SH, std::chrono::seconds(30));
  return gone;
}

}  // namespace stackgate::datastore::git
