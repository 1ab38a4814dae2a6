// A server as a child process, with its own accounting from /proc.
#pragma once
#include <chrono>
#include <cstdint>
#include <filesystem>
#include <fstream>
#include <stdexcept>
#include <string>
#include <thread>
#include <vector>

#include <fcntl.h>
#include <sched.h>
#include <signal.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

namespace stackgate::bench {

/// The thread `task` (0: the calling one) on this core, or anywhere again (-1).
inline void keep_on_core(pid_t task, int core) {
  cpu_set_t cores;
  CPU_ZERO(&cores);
  for (int each = 0; each < CPU_SETSIZE; ++each)
    if (core < 0 || each == core) CPU_SET(static_cast<unsigned>(each), &cores);
  if (::sched_setaffinity(task, sizeof cores, &cores) != 0) throw std::runtime_error("cannot choose a core");
}

class Process {
 public:
  enum class Output : std::uint8_t { file, pipe };
  /// Both outputs are appended to the file `log`; through a pipe that a thread reads: as a container's are.
  Process(const std::vector<std::string>& command, const std::string& log, Output output = Output::file) {
    std::vector<char*> arguments;
    for (const auto& word : command) arguments.push_back(const_cast<char*>(word.c_str()));
    arguments.push_back(nullptr);
    const int file = ::open(log.c_str(), O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0600);
    int ends[2] = {-1, -1};
    if (output == Output::pipe && ::pipe2(ends, O_CLOEXEC) != 0) throw std::runtime_error("cannot make a pipe");
    const int out = output == Output::pipe ? ends[1] : file;
    pid_ = ::fork();
    if (pid_ < 0) throw std::runtime_error("cannot fork");
    if (pid_ == 0) {
      ::dup2(out, 1);
      ::dup2(out, 2);
      ::execv(arguments[0], arguments.data());
      ::_exit(127);
    }
    ::close(out);
    if (output == Output::pipe) reader_ = std::jthread([file, from = ends[0]] { copy(from, file); });
  }
  ~Process() { end(SIGKILL); }
  Process(const Process&) = delete;
  Process& operator=(const Process&) = delete;

  /// CPU microseconds of all threads so far, those that have ended too.
  double cpu_us() const {
    clockid_t clock = 0;
    timespec used{};
    if (::clock_getcpuclockid(pid_, &clock) != 0 || ::clock_gettime(clock, &used) != 0)
      throw std::runtime_error("the server has ended; see its log");
    return static_cast<double>(used.tv_sec) * 1e6 + static_cast<double>(used.tv_nsec) / 1e3;
  }
  /// "VmRSS" or "VmHWM", in MiB.
  double memory_mib(const std::string& name) const {
    std::ifstream status("/proc/" + std::to_string(pid_) + "/status");
    for (std::string line; std::getline(status, line);) {
      if (line.starts_with(name + ":")) return std::stod(line.substr(name.size() + 1)) / 1024;
    }
    throw std::runtime_error("the server has ended; see its log");
  }
  /// All its threads on this core, or anywhere again (-1).
  void keep_on_core(int core) const {
    for (const auto& task : std::filesystem::directory_iterator("/proc/" + std::to_string(pid_) + "/task"))
      bench::keep_on_core(std::stoi(task.path().filename()), core);
  }
  /// SIGTERM, and waits for its end.
  void terminate() { end(SIGTERM); }
  bool is_running() const { return ::waitpid(pid_, nullptr, WNOHANG) == 0; }

 private:
  static void copy(int from, int to) {
    char part[64 * 1024];
    for (ssize_t n = 0; (n = ::read(from, part, sizeof part)) > 0;)
      if (::write(to, part, static_cast<std::size_t>(n)) != n) break;  // what is lost is a log's
    ::close(from);
    ::close(to);
  }
  void end(int signal) {
    if (pid_ <= 0) return;
    ::kill(pid_, signal);
    ::waitpid(pid_, nullptr, 0);
    pid_ = -1;
  }

  pid_t pid_ = -1;
  std::jthread reader_;  // ends with the pipe's last writer
};

}  // namespace stackgate::bench
