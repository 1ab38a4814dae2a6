#include "services/customizer/runs/local/attempt.hpp"

#include <algorithm>
#include <cerrno>
#include <charconv>
#include <chrono>
#include <csignal>
#include <filesystem>
#include <system_error>

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include "services/customizer/runs/local/paths.hpp"
#include "services/kit/files/file.hpp"
#include "services/kit/subprocess/process.hpp"

namespace stackgate::customizer {
namespace attempt_detail {

namespace fs = std::filesystem;

constexpr std::chrono::seconds grace{30};
constexpr std::uint64_t piece = 256U << 10U, end_bytes = 16U << 10U;
using local_files::own_file;
using local_files::refused;

std::optional<int> number_in(const std::string& path) {
  const auto text = files::read_file(path, 64);
  if (!text) return std::nullopt;
  int out = 0;
  const auto [end, error] = std::from_chars(text->data(), text->data() + text->size(), out);
  return error == std::errc() && end != text->data() ? std::optional(out) : std::nullopt;
}

std::string read_from(const std::string& path, std::uint64_t offset, std::uint64_t most) {
  const files::File file(::open(path.c_str(), O_RDONLY | O_CLOEXEC));
  struct stat of{};
  // Mostly nothing has been written since.
  if (!file || ::fstat(file.fd(), &of) != 0 || static_cast<std::uint64_t>(of.st_size) <= offset) return {};
  std::string out(std::min(most, static_cast<std::uint64_t>(of.st_size) - offset), '\0');
  const ssize_t got = ::pread(file.fd(), out.data(), out.size(), static_cast<off_t>(offset));
  out.resize(got < 0 ? 0 : static_cast<std::size_t>(got));
  return out;
}

/// Ours but for the settings of this service, which mean something else to other programs.
std::vector<std::string> inherited() {
  std::vector<std::string> out;
  for (std::string& each : subprocess::own_environment())
    if (!each.starts_with("STACKGATE_") && !each.starts_with("DATASTORE_") && !each.starts_with("REGISTRY_") &&
        !each.starts_with("MLFLOW_") && !each.starts_with("WANDB_") && !each.starts_with("TRACEPARENT="))
      out.push_back(std::move(each));
  return out;
}

}  // namespace attempt_detail

using namespace attempt_detail;

bool Attempt::is_running() const {
  const files::File lock(::open(path("lock").c_str(), O_RDONLY | O_CLOEXEC));
  return lock && ::flock(lock.fd(), LOCK_EX | LOCK_NB) != 0 && errno == EWOULDBLOCK;
}

Attempt::Phase Attempt::phase() const {
  std::error_code ignored;
  if (!fs::exists(directory_, ignored)) return Phase::absent;
  if (is_running()) return Phase::running;
  // In this order: the status is written before the lock is free.
  if (status()) return Phase::ended;
  return fs::exists(path("pid"), ignored) ? Phase::killed : Phase::waiting;
}

std::optional<int> Attempt::status() const { return number_in(path("exit")); }

std::expected<void, Error> Attempt::make() const {
  std::error_code error;
  fs::create_directories(directory_, error);
  if (error) return refused("make", directory_, error.value());
  return {};
}

std::expected<void, Error> Attempt::start(const StageProgram& program) const {
  if (phase() != Phase::waiting) return {};
  const files::File lock(::open(path("lock").c_str(), O_RDWR | O_CREAT | O_CLOEXEC, own_file));
  if (!lock) return refused("open", path("lock"), errno);
  if (::flock(lock.fd(), LOCK_EX | LOCK_NB) != 0) return {};  // somebody was faster
  subprocess::Spec spec{.arguments = {"setsid", "--fork", "/bin/sh", "-c", stage_script(program)},
                        .environment = inherited(),
                        .directory = directory_,
                        .keep_fd = lock.fd()};
  spec.environment.insert(spec.environment.end(), program.environment.begin(), program.environment.end());
  auto started = subprocess::Process::start(spec);
  if (!started) return std::unexpected(Error{fmt::format("start a stage: {}", started.error().message)});
  (*started)->close_input();
  (*started)->drain([](std::string_view) { return true; });
  if (const int status = (*started)->wait(); status != 0)
    return std::unexpected(Error{fmt::format("setsid ended with {}: {}", status, (*started)->errors())});
  return {};
}

void Attempt::stop() const {
  if (!is_running()) return;
  const auto leader = number_in(path("pid"));
  if (!leader || *leader <= 1) return;  // it has just begun
  struct stat asked{};
  const std::string mark = path("stopping");
  int signal = SIGTERM;
  if (::stat(mark.c_str(), &asked) == 0) {
    const auto age = std::chrono::system_clock::now() - std::chrono::system_clock::from_time_t(asked.st_mtim.tv_sec);
    if (age < grace) return;
    signal = SIGKILL;
  } else {
    const files::File made(::open(mark.c_str(), O_WRONLY | O_CREAT | O_CLOEXEC, own_file));
  }
  ::kill(-*leader, signal);
}

std::string Attempt::log(std::uint64_t& offset) const {
  std::string out = read_from(path("log"), offset, piece);
  const std::size_t end = out.rfind('\n');
  // A line that is longer than all of that is cut.
  if (end != std::string::npos)
    out.resize(end + 1);
  else if (out.size() < piece)
    out.clear();
  offset += out.size();
  return out;
}

std::string Attempt::log_end() const {
  std::error_code error;
  const auto size = fs::file_size(path("log"), error);
  if (error) return {};
  return read_from(path("log"), size > end_bytes ? size - end_bytes : 0, end_bytes);
}

}  // namespace stackgate::customizer
