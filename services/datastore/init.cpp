#include <algorithm>
#include <cerrno>
#include <filesystem>
#include <system_error>
#include <vector>

#include <fmt/format.h>
#include <spawn.h>
#include <sys/wait.h>
#include <unistd.h>

#include "services/datastore/commands.hpp"
#include "services/datastore/migrations.hpp"

namespace stackgate::datastore {
namespace {

namespace fs = std::filesystem;

/// The *.sh files of a mounted Secret in the order of their names; links lead through "..data".
std::expected<std::vector<std::string>, Error> init_scripts(const std::string& folder) {
  std::vector<std::string> out;
  std::error_code error;
  for (fs::directory_iterator at(folder, error), end; !error && at != end; at.increment(error)) {
    const std::string name = at->path().filename().string();
    std::error_code odd;
    if (!name.starts_with('.') && name.ends_with(".sh") && at->is_regular_file(odd)) out.push_back(at->path().string());
  }
  if (error) return std::unexpected(Error{fmt::format("--init-dir {}: {}", folder, error.message())});
  std::ranges::sort(out);
  return out;
}

/// /bin/sh -eu SCRIPT, with this process's environment and output.
std::expected<void, Error> run_script(const std::string& path) {
  const char* arguments[] = {"/bin/sh", "-eu", path.c_str(), nullptr};
  pid_t child = 0;
  const int failed = ::posix_spawn(&child, "/bin/sh", nullptr, nullptr, const_cast<char* const*>(arguments), environ);
  if (failed != 0) return std::unexpected(Error{fmt::format("/bin/sh: {}", std::generic_category().message(failed))});
  int status = 0;
  while (::waitpid(child, &status, 0) < 0)
    if (errno != EINTR) return std::unexpected(Error{"waitpid: " + std::generic_category().message(errno)});
  if (WIFEXITED(status) && WEXITSTATUS(status) == 0) return {};
  return std::unexpected(Error{WIFEXITED(status) ? fmt::format("{} ended with status {}", path, WEXITSTATUS(status))
                                                 : fmt::format("{} was ended by signal {}", path, WTERMSIG(status))});
}

}  // namespace

int init(Assembly& all, const settings::Values&) {
  auto migrated = sql::migrate(*all.database, all_migrations());
  if (!migrated) return command_failed(migrated.error().message);
  if (auto done = all.accounts.prepare(); !done) return command_failed(done.error().message);
  // The store may come up later than this pod; serve waits for it.
  if (auto good = all.store->check(); !good)
    command_failed(fmt::format("warning: object store: {}", good.error().message));
  if (!all.options.init_dir.empty()) {
    auto scripts = init_scripts(all.options.init_dir);
    if (!scripts) return command_failed(scripts.error().message);
    for (const std::string& script : *scripts) {
      fmt::print("running {}\n", script);
      std::fflush(stdout);
      if (auto done = run_script(script); !done) return command_failed(done.error().message);
    }
  }
  fmt::print("ready: schema version {}, data in {}, administrator {}\n", migrated->to, all.options.data_dir,
             all.options.admin_name);
  return 0;
}

}  // namespace stackgate::datastore
