#include "tests/chaos/operator_process.hpp"

#include <fstream>
#include <stdexcept>

#include <fcntl.h>
#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

namespace stackgate::chaos {

void OperatorProcess::start() {
  std::vector<char*> arguments;
  for (const std::string& word : command_) arguments.push_back(const_cast<char*>(word.c_str()));
  arguments.push_back(nullptr);
  const std::scoped_lock lock(mutex_);
  const int out = ::open(log_.c_str(), O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0600);
  pid_ = ::vfork();  // the parent has many threads: the child only calls what is safe between fork and exec
  if (pid_ < 0) throw std::runtime_error("cannot fork");
  if (pid_ == 0) {
    ::dup2(out, 1);
    ::dup2(out, 2);
    ::signal(SIGPIPE, SIG_DFL);
    ::execv(arguments[0], arguments.data());
    ::_exit(127);
  }
  ::close(out);
}

void OperatorProcess::kill() {
  const std::scoped_lock lock(mutex_);
  if (pid_ <= 0) return;
  ::kill(pid_, SIGKILL);
  ::waitpid(pid_, nullptr, 0);
  pid_ = -1;
}

bool OperatorProcess::has_ended() const {
  const std::scoped_lock lock(mutex_);
  siginfo_t state{};
  return pid_ > 0 && ::waitid(P_PID, static_cast<id_t>(pid_), &state, WEXITED | WNOHANG | WNOWAIT) == 0 &&
         state.si_pid == pid_;
}

bool OperatorProcess::is_running() const {
  const std::scoped_lock lock(mutex_);
  return pid_ > 0;
}

double OperatorProcess::resident_mib() const {
  const std::scoped_lock lock(mutex_);
  std::ifstream status("/proc/" + std::to_string(pid_) + "/status");
  for (std::string line; std::getline(status, line);)
    if (line.starts_with("VmRSS:")) return std::stod(line.substr(6)) / 1024;
  return 0;
}

}  // namespace stackgate::chaos
