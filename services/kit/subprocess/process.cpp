#include "services/kit/subprocess/process.hpp"

#include <algorithm>
#include <array>
#include <cerrno>
#include <csignal>
#include <cstdlib>
#include <cstring>
#include <mutex>
#include <thread>

#include <fcntl.h>
#include <fmt/format.h>
#include <poll.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

namespace stackgate::subprocess {
namespace {

using Clock = std::chrono::steady_clock;
using files::File;
constexpr std::size_t most_error_text = 8 * 1024;
constexpr std::chrono::milliseconds tick{500};

struct Pipe {
  File read_end, write_end;
};

Pipe make_pipe() {
  int ends[2];
  if (::pipe2(ends, O_CLOEXEC) != 0) return {};
  return {File(ends[0]), File(ends[1])};
}

/// What a child reads from. A socket rather than a pipe: a full pipe wakes its writer for each page that is read, a
/// socket only when most of it is free (git's index-pack reads 4 KiB at a time, so 100 MB took 22,000 turns).
Pipe make_input() {
  int ends[2];
  if (::socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, ends) != 0) return {};
  ::shutdown(ends[0], SHUT_WR);
  return {File(ends[0]), File(ends[1])};
}

void unblock(const File& file) {
  if (file) ::fcntl(file.fd(), F_SETFL, ::fcntl(file.fd(), F_GETFL) | O_NONBLOCK);
}

/// The path to execute; the bare name where nothing is found, so that exec says ENOENT.
std::string find_program(const std::string& name) {
  if (name.contains('/')) return name;
  const char* variable = std::getenv("PATH");
  std::string_view path = variable == nullptr ? "/usr/local/bin:/usr/bin:/bin" : variable;
  while (!path.empty()) {
    const auto end = std::min(path.find(':'), path.size());
    std::string found = fmt::format("{}/{}", path.substr(0, end), name);
    if (end > 0 && ::access(found.c_str(), X_OK) == 0) return found;
    path.remove_prefix(std::min(end + 1, path.size()));
  }
  return name;
}

std::vector<char*> pointers(const std::vector<std::string>& words) {
  std::vector<char*> out;
  out.reserve(words.size() + 1);
  for (const std::string& each : words) out.push_back(const_cast<char*>(each.c_str()));
  out.push_back(nullptr);
  return out;
}

struct Limit {
  __rlimit_resource resource;
  std::uint64_t value;
};

/// All that the new process needs between vfork and exec, where nothing may be allocated.
struct Plan {
  const char* program;
  char* const* arguments;
  char* const* environment;
  const char* directory;
  int in, out, errors, keep, report;  // above 9, so that no dup2 overwrites another's source
  std::array<Limit, 4> limits;
};

/// Runs in the new process. Returns errno when exec did not come to pass.
int become(const Plan& plan) {
  for (int signal = 1; signal < NSIG; ++signal) ::signal(signal, SIG_DFL);  // we ignore SIGPIPE; a child must die of it
  if (::setpgid(0, 0) != 0) return errno;
  if (*plan.directory != '\0' && ::chdir(plan.directory) != 0) return errno;
  if (::dup2(plan.in, 0) < 0 || ::dup2(plan.out, 1) < 0 || ::dup2(plan.errors, 2) < 0) return errno;
  if (plan.keep >= 0 && ::dup2(plan.keep, 3) < 0) return errno;
  const auto first = static_cast<unsigned>(plan.keep >= 0 ? 4 : 3);
  const auto report = static_cast<unsigned>(plan.report);
  if (::close_range(first, report - 1, 0) != 0 || ::close_range(report + 1, ~0U, 0) != 0) return errno;
  for (const auto& [resource, value] : plan.limits) {
    rlimit limit{};
    if (value == 0 || ::getrlimit(resource, &limit) != 0) continue;
    limit.rlim_cur = limit.rlim_max = std::min<rlim_t>(value, limit.rlim_max);
    if (::setrlimit(resource, &limit) != 0) return errno;
  }
  sigset_t none;
  sigemptyset(&none);
  ::sigprocmask(SIG_SETMASK, &none, nullptr);
  ::execve(plan.program, plan.arguments, plan.environment);
  return errno;
}

/// posix_spawn knows no limits; fork copies the page tables of a process that may hold gigabytes. -1: errno.
pid_t spawn(const Plan& plan) {
  sigset_t all, before;
  sigfillset(&all);
  ::pthread_sigmask(SIG_SETMASK, &all, &before);  // no handler of ours may run in memory that both share
  // NOLINTNEXTLINE(clang-analyzer-security.insecureAPI.vfork,bugprone-unsafe-functions): become() calls the system only
  const pid_t pid = ::vfork();
  if (pid == 0) {
    const int error = become(plan);
    (void)!::write(plan.report, &error, sizeof error);
    ::_exit(127);
  }
  const int error = errno;
  ::pthread_sigmask(SIG_SETMASK, &before, nullptr);
  errno = error;
  return pid;
}

}  // namespace

std::vector<std::string> own_environment() {
  std::vector<std::string> out;
  for (char** each = ::environ; each != nullptr && *each != nullptr; ++each) out.emplace_back(*each);
  return out;
}

std::expected<std::unique_ptr<Process>, StartError> Process::start(const Spec& spec) {
  // A child that stops reading must not end us, in commands without StopSignals either.
  static std::once_flag once;
  std::call_once(once, [] { ::signal(SIGPIPE, SIG_IGN); });
  const std::string name = spec.arguments.empty() ? std::string() : spec.arguments.front();
  const auto failed = [&name](int number) {
    return std::unexpected(StartError{number, fmt::format("{} cannot be started: {}", name, std::strerror(number))});
  };
  if (name.empty()) return failed(EINVAL);
  Pipe in = make_input(), out = make_pipe(), errors = spec.errors == Errors::kept ? make_pipe() : Pipe{},
       report = make_pipe();
  const auto high = [](int fd) { return File(::fcntl(fd, F_DUPFD_CLOEXEC, 10)); };
  const File high_in = high(in.read_end.fd()), high_out = high(out.write_end.fd()),
             high_errors = high(spec.errors == Errors::inherited     ? STDERR_FILENO
                                : spec.errors == Errors::with_output ? out.write_end.fd()
                                                                     : errors.write_end.fd()),
             keep = spec.keep_fd >= 0 ? high(spec.keep_fd) : File();
  if (!high_in || !high_out || !high_errors || (spec.keep_fd >= 0 && !keep)) return failed(errno);
  File high_report = high(report.write_end.fd());
  if (!high_report) return failed(errno);
  const std::string program = find_program(name);
  const auto arguments = pointers(spec.arguments), environment = pointers(spec.environment);
  const pid_t pid = spawn({.program = program.c_str(),
                           .arguments = arguments.data(),
                           .environment = environment.data(),
                           .directory = spec.directory.c_str(),
                           .in = high_in.fd(),
                           .out = high_out.fd(),
                           .errors = high_errors.fd(),
                           .keep = keep.fd(),
                           .report = high_report.fd(),
                           .limits = {{{RLIMIT_CPU, spec.limits.cpu_seconds},
                                       {RLIMIT_AS, spec.limits.memory_bytes},
                                       {RLIMIT_FSIZE, spec.limits.file_bytes},
                                       {RLIMIT_NOFILE, spec.limits.open_files}}}});
  if (pid < 0) return failed(errno);
  std::unique_ptr<Process> process(new Process);
  process->pid_ = pid;
  process->input_ = std::move(in.write_end);
  process->output_ = std::move(out.read_end);
  process->errors_ = std::move(errors.read_end);
  process->silence_ = spec.silence;
  process->last_byte_ = Clock::now();
  report.write_end.close();
  high_report.close();
  int error = 0;
  if (::read(report.read_end.fd(), &error, sizeof error) == static_cast<ssize_t>(sizeof error)) return failed(error);
  for (const File* each : {&process->input_, &process->output_, &process->errors_}) unblock(*each);
  return process;
}

Process::~Process() {
  input_.close();
  output_.close();
  errors_.close();
  finish(SIGTERM, std::chrono::seconds(2));
}

bool Process::step(bool for_input, const Output& output, std::chrono::milliseconds limit) {
  std::array<pollfd, 3> fds{pollfd{output_.fd(), POLLIN, 0}, pollfd{errors_.fd(), POLLIN, 0},
                            pollfd{for_input ? input_.fd() : -1, POLLOUT, 0}};
  const int ready = ::poll(fds.data(), fds.size(), static_cast<int>(limit.count()));
  if (ready <= 0) return silence_.count() == 0 || Clock::now() - last_byte_ < silence_;
  last_byte_ = Clock::now();
  char piece[64 * 1024];
  const auto read = [&piece](File& from) {
    const ssize_t got = ::read(from.fd(), piece, sizeof piece);
    if (got == 0 || (got < 0 && errno != EAGAIN && errno != EINTR)) from.close();
    return std::string_view(piece, got > 0 ? static_cast<std::size_t>(got) : 0);
  };
  if (fds[1].revents != 0) error_text_.append(read(errors_).substr(0, most_error_text - error_text_.size()));
  if (fds[0].revents == 0) return true;
  const std::string_view bytes = read(output_);
  return bytes.empty() || output(bytes);
}

Process::Fed Process::feed(std::string_view bytes, const Output& output) {
  last_byte_ = Clock::now();  // the caller's pauses are not the child's
  while (!bytes.empty()) {
    if (!input_) return Fed::closed;
    const ssize_t wrote = ::write(input_.fd(), bytes.data(), bytes.size());
    if (wrote > 0) {
      bytes.remove_prefix(static_cast<std::size_t>(wrote));
      last_byte_ = Clock::now();
    } else if (wrote < 0 && (errno == EPIPE || errno == ECONNRESET)) {
      input_.close();
      return Fed::closed;
    } else if (wrote < 0 && errno != EAGAIN && errno != EINTR) {
      return Fed::failed;
    }
    if (bytes.empty()) break;
    if (!step(true, output, tick)) return Fed::failed;
  }
  return Fed::taken;
}

bool Process::drain(const Output& output, const std::function<bool()>& stop) {
  auto asked = Clock::now();
  while (output_ || errors_) {
    const auto before = last_byte_;
    if (!step(false, output, tick)) return false;
    siginfo_t ended{};
    // What it started may hold its pipes open for ever; it ends with the group.
    if (last_byte_ == before && ::waitid(P_PID, static_cast<id_t>(pid_), &ended, WEXITED | WNOHANG | WNOWAIT) == 0 &&
        ended.si_pid == pid_)
      return true;
    if (const auto now = Clock::now(); stop && now - asked >= tick) {
      if (stop()) return false;
      asked = now;
    }
  }
  return true;
}

void Process::finish(int first_signal, std::chrono::milliseconds grace) {
  if (pid_ < 0) return;
  if (first_signal != 0) ::kill(-pid_, first_signal);
  const auto deadline = Clock::now() + grace;
  siginfo_t ended{};
  for (auto pause = std::chrono::microseconds(100);; pause = std::min(pause * 2, std::chrono::microseconds(10'000))) {
    const int asked = ::waitid(P_PID, static_cast<id_t>(pid_), &ended, WEXITED | WNOHANG | WNOWAIT);
    if ((asked == 0 && ended.si_pid == pid_) || (asked != 0 && errno != EINTR) || Clock::now() >= deadline) break;
    std::this_thread::sleep_for(pause);
  }
  ::kill(-pid_, SIGKILL);  // it, or what it left behind; while it is not reaped, nobody else has its number
  while (::waitpid(pid_, &status_, 0) < 0 && errno == EINTR) {
  }
  pid_ = -1;
}

int Process::exit_code() const { return WIFEXITED(status_) ? WEXITSTATUS(status_) : 128 + WTERMSIG(status_); }

std::optional<int> Process::signal() const {
  return WIFSIGNALED(status_) ? std::optional(WTERMSIG(status_)) : std::nullopt;
}

int Process::wait() {
  input_.close();
  finish(0, std::chrono::seconds(30));
  return exit_code();
}

int Process::end(std::chrono::milliseconds grace) {
  finish(SIGTERM, grace);
  return exit_code();
}

}  // namespace stackgate::subprocess
