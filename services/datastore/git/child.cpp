#include "services/datastore/git/child.hpp"

#include <array>
#include <cerrno>
#include <cstdlib>
#include <mutex>
#include <thread>

#include <fcntl.h>
#include <fmt/format.h>
#include <poll.h>
#include <signal.h>
#include <spawn.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include "services/datastore/git/library.hpp"

namespace stackgate::datastore::git {
namespace {

using ChildClock = std::chrono::steady_clock;
constexpr std::size_t most_complaints = 8 * 1024;

/// The same for every call; a repository's own configuration file cannot overrule the command line.
constexpr std::array settings{
    "safe.directory=*",  // the path comes from a record; the volume may belong to another user
    "core.hooksPath=/dev/null",
    "core.fsync=committed,pack-metadata,reference",
    "core.fsyncMethod=fsync",
    "core.bigFileThreshold=32m",  // larger files are neither held in memory nor searched for deltas
    "pack.windowMemory=64m",
    "gc.auto=0",
    "maintenance.auto=false",
    "receive.autogc=false",
    "receive.unpackLimit=1",  // one pack, synced once, instead of a synced file for each object
    "receive.fsckObjects=true",
    "receive.fsck.missingSpaceBeforeDate=warn",  // faults of old tools that long histories have
    "receive.fsck.zeroPaddedFilemode=warn",
    "receive.fsck.badTimezone=warn",
    "receive.denyCurrentBranch=ignore",
    "receive.advertisePushOptions=false",
    "uploadpack.allowFilter=true",
    "uploadpack.allowAnySHA1InWant=true",  // what protocol 2 grants anyway
};

struct Pipe {
  File read_end, write_end;
};

Expected<Pipe> make_pipe() {
  int ends[2];
  if (::pipe2(ends, O_CLOEXEC) != 0) return system_error(errno, "a pipe cannot be made");
  return Pipe{File(ends[0]), File(ends[1])};
}

/// What a child reads from. A socket rather than a pipe: a full pipe wakes its writer for each page that is read, a
/// socket only when most of it is free (git's index-pack reads 4 KiB at a time, so 100 MB took 22,000 turns).
Expected<Pipe> make_input() {
  int ends[2];
  if (::socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, ends) != 0)
    return system_error(errno, "a pair of sockets cannot be made");
  ::shutdown(ends[0], SHUT_WR);
  return Pipe{File(ends[0]), File(ends[1])};
}

void unblock(int fd) { ::fcntl(fd, F_SETFL, ::fcntl(fd, F_GETFL) | O_NONBLOCK); }

std::vector<char*> pointers(std::vector<std::string>& words) {
  std::vector<char*> out;
  out.reserve(words.size() + 1);
  for (std::string& each : words) out.push_back(each.data());
  out.push_back(nullptr);
  return out;
}

std::vector<std::string> clean_environment(const std::vector<std::string>& more) {
  const char* path = std::getenv("PATH");
  std::vector<std::string> out{fmt::format("PATH={}", path == nullptr ? "/usr/local/bin:/usr/bin:/bin" : path),
                               "HOME=/nonexistent",
                               "XDG_CONFIG_HOME=/nonexistent",
                               "GIT_CONFIG_NOSYSTEM=1",
                               "GIT_CONFIG_GLOBAL=/dev/null",
                               "GIT_TERMINAL_PROMPT=0",
                               "LC_ALL=C"};
  out.insert(out.end(), more.begin(), more.end());
  return out;
}

/// posix_spawn's attributes with an end.
struct SpawnPlan {
  posix_spawn_file_actions_t files;
  posix_spawnattr_t attributes;
  SpawnPlan() {
    posix_spawn_file_actions_init(&files);
    posix_spawnattr_init(&attributes);
    sigset_t none, all;
    sigemptyset(&none);
    sigfillset(&all);
    posix_spawnattr_setsigmask(&attributes, &none);
    posix_spawnattr_setsigdefault(&attributes, &all);  // we ignore SIGPIPE; git must die of it
    posix_spawnattr_setpgroup(&attributes, 0);
    posix_spawnattr_setflags(&attributes, POSIX_SPAWN_SETSIGMASK | POSIX_SPAWN_SETSIGDEF | POSIX_SPAWN_SETPGROUP);
  }
  SpawnPlan(const SpawnPlan&) = delete;
  SpawnPlan& operator=(const SpawnPlan&) = delete;
  ~SpawnPlan() {
    posix_spawn_file_actions_destroy(&files);
    posix_spawnattr_destroy(&attributes);
  }
};

}  // namespace

Expected<std::unique_ptr<Child>> Child::start(const ChildSpec& spec) {
  // A git that stops reading must not end us, in commands without StopSignals either.
  static std::once_flag once;
  std::call_once(once, [] { ::signal(SIGPIPE, SIG_IGN); });
  std::vector<std::string> words{"git"};
  const auto set = [&words](std::string_view setting) {
    words.emplace_back("-c");
    words.emplace_back(setting);
  };
  for (const char* each : settings) set(each);
  for (const std::string& each : spec.settings) set(each);
  words.insert(words.end(), spec.arguments.begin(), spec.arguments.end());
  std::vector<std::string> environment = clean_environment(spec.environment);

  auto in = make_input(), out = make_pipe(), errors = make_pipe();
  if (!in) return std::unexpected(in.error());
  if (!out) return std::unexpected(out.error());
  if (!errors) return std::unexpected(errors.error());
  // Sources above 3, so that no dup2 overwrites another's source.
  File lock;
  if (spec.keep_fd >= 0) lock = File(::fcntl(spec.keep_fd, F_DUPFD_CLOEXEC, 10));
  SpawnPlan plan;
  const auto give = [&plan](int fd, int as) { posix_spawn_file_actions_adddup2(&plan.files, fd, as); };
  File high_in(::fcntl(in->read_end.fd(), F_DUPFD_CLOEXEC, 10)),
      high_out(::fcntl(out->write_end.fd(), F_DUPFD_CLOEXEC, 10)),
      high_errors(::fcntl(errors->write_end.fd(), F_DUPFD_CLOEXEC, 10));
  if (!high_in || !high_out || !high_errors || (spec.keep_fd >= 0 && !lock))
    return system_error(errno, "git cannot be started");
  give(high_in.fd(), 0);
  give(high_out.fd(), 1);
  give(high_errors.fd(), 2);
  if (lock) give(lock.fd(), 3);
  posix_spawn_file_actions_addclosefrom_np(&plan.files, lock ? 4 : 3);
  pid_t pid = -1;
  const int fault =
      posix_spawnp(&pid, "git", &plan.files, &plan.attributes, pointers(words).data(), pointers(environment).data());
  if (fault != 0) return system_error(fault, "git cannot be started");

  std::unique_ptr<Child> child(new Child);
  child->pid_ = pid;
  child->input_ = std::move(in->write_end);
  child->output_ = std::move(out->read_end);
  child->errors_ = std::move(errors->read_end);
  for (const File* each : {&child->input_, &child->output_, &child->errors_}) unblock(each->fd());
  child->silence_ = spec.silence;
  child->heard_ = ChildClock::now();
  return child;
}

Child::~Child() {
  input_.close();
  output_.close();
  errors_.close();
  finish(SIGTERM);
}

bool Child::step(bool for_input, const Output& output, std::chrono::milliseconds limit) {
  std::array<pollfd, 3> fds{pollfd{output_.fd(), POLLIN, 0}, pollfd{errors_.fd(), POLLIN, 0},
                            pollfd{for_input ? input_.fd() : -1, POLLOUT, 0}};
  const int ready = ::poll(fds.data(), fds.size(), static_cast<int>(limit.count()));
  writable_ = fds[2].revents != 0;
  if (ready <= 0) return ChildClock::now() - heard_ < silence_;
  heard_ = ChildClock::now();
  char piece[64 * 1024];
  if (fds[1].revents != 0) {
    const ssize_t got = ::read(errors_.fd(), piece, sizeof piece);
    if (got == 0 || (got < 0 && errno != EAGAIN && errno != EINTR)) errors_.close();
    if (got > 0 && complaints_.size() < most_complaints)
      complaints_.append(piece, std::min(static_cast<std::size_t>(got), most_complaints - complaints_.size()));
  }
  if (fds[0].revents != 0) {
    const ssize_t got = ::read(output_.fd(), piece, sizeof piece);
    if (got == 0 || (got < 0 && errno != EAGAIN && errno != EINTR)) output_.close();
    if (got > 0 && !output({piece, static_cast<std::size_t>(got)})) return false;
  }
  return true;
}

Child::Fed Child::feed(std::string_view bytes, const Output& output) {
  heard_ = ChildClock::now();  // the client's pauses are not the child's
  while (!bytes.empty()) {
    if (!input_) return Fed::closed;
    const ssize_t wrote = ::write(input_.fd(), bytes.data(), bytes.size());
    if (wrote > 0) {
      bytes.remove_prefix(static_cast<std::size_t>(wrote));
      heard_ = ChildClock::now();
    } else if (wrote < 0 && (errno == EPIPE || errno == ECONNRESET)) {
      input_.close();
      return Fed::closed;
    } else if (wrote < 0 && errno != EAGAIN && errno != EINTR) {
      return Fed::failed;
    }
    if (bytes.empty()) break;
    if (!step(true, output, std::chrono::milliseconds(500))) return Fed::failed;
  }
  return Fed::taken;
}

bool Child::drain(const Output& output, const std::function<bool()>& stop) {
  auto asked = ChildClock::now();
  while (output_ || errors_) {
    if (!step(false, output, std::chrono::milliseconds(500))) return false;
    if (const auto now = ChildClock::now(); stop && now - asked >= std::chrono::milliseconds(500)) {
      if (stop()) return false;
      asked = now;
    }
  }
  return true;
}

/// Gives it two seconds from `first_signal` (0: thirty, with none), then ends the whole group.
void Child::finish(int first_signal) {
  if (pid_ < 0) return;
  if (first_signal != 0) ::kill(-pid_, first_signal);
  const auto deadline = ChildClock::now() + std::chrono::seconds(first_signal == 0 ? 30 : 2);
  for (auto pause = std::chrono::microseconds(100);; pause = std::min(pause * 2, std::chrono::microseconds(10'000))) {
    const pid_t ended = ::waitpid(pid_, &status_, WNOHANG);
    if (ended == pid_ || (ended < 0 && errno != EINTR)) break;
    if (ChildClock::now() >= deadline) {
      ::kill(-pid_, SIGKILL);
      while (::waitpid(pid_, &status_, 0) < 0 && errno == EINTR) {
      }
      break;
    }
    std::this_thread::sleep_for(pause);
  }
  pid_ = -1;
}

int Child::wait() {
  input_.close();
  finish(0);
  return WIFEXITED(status_) ? WEXITSTATUS(status_) : 128 + WTERMSIG(status_);
}

Expected<std::string> run_git(const ChildSpec& spec, std::string_view input, std::size_t most) {
  auto child = Child::start(spec);
  if (!child) return std::unexpected(child.error());
  std::string out;
  const auto take = [&](std::string_view piece) {
    out.append(piece);
    return out.size() <= most;
  };
  const auto name = spec.arguments.empty() ? std::string("git") : "git " + spec.arguments.front();
  if ((*child)->feed(input, take) == Child::Fed::failed) return git_error_of(Fault::broken, name + " was stopped");
  (*child)->close_input();
  if (!(*child)->drain(take)) return git_error_of(Fault::broken, name + " was stopped: too slow, or too much to say");
  if (const int status = (*child)->wait(); status != 0) {
    const std::string& why = (*child)->complaints();
    const bool full = why.find("No space left on device") != std::string::npos;
    return git_error_of(full ? Fault::full : Fault::broken, fmt::format("{} ended with {}: {}", name, status, why));
  }
  return out;
}

}  // namespace stackgate::datastore::git
