#include "services/datastore/git/maintenance.hpp"

#include <chrono>
#include <ctime>
#include <filesystem>

#include <fmt/format.h>
#include <sys/stat.h>
#include <unistd.h>

#include "services/datastore/git/child.hpp"
#include "services/datastore/git/library.hpp"
#include "services/datastore/git/lock.hpp"
#include "services/kit/base/try.hpp"
#include "services/kit/log/log.hpp"

namespace stackgate::datastore::git {
namespace {

namespace fs = std::filesystem;
constexpr std::size_t packs_wanted = 20;         // beyond it, small ones are packed together
constexpr std::size_t loose_wanted = 8;          // in one of 256 folders: some two thousand
constexpr std::time_t leftover_age = 24 * 3600;  // seconds: no push and no commit takes so long
constexpr std::chrono::hours repack_silence{6};

std::size_t count_files(const std::string& folder, std::string_view end) {
  std::error_code failed;
  std::size_t count = 0;
  for (fs::directory_iterator it(folder, failed), last; !failed && it != last; it.increment(failed))
    if (it->path().filename().string().ends_with(end)) ++count;
  return count;
}

bool is_old(const fs::path& path) {
  struct stat about{};
  return ::lstat(path.c_str(), &about) == 0 && about.st_mtime + leftover_age < std::time(nullptr);
}

/// What killed processes left, by the names that git and we give to what is not finished.
bool remove_leftovers(const std::string& repository) {
  bool any = false;
  std::error_code failed;
  for (const std::string& folder : {repository + "/objects", repository + "/objects/pack"}) {
    std::vector<fs::path> old;
    for (fs::directory_iterator it(folder, failed), last; !failed && it != last; it.increment(failed)) {
      const std::string name = it->path().filename().string();
      if ((name.starts_with("tmp_") || name.starts_with(".tmp-")) && is_old(it->path())) old.push_back(it->path());
    }
    for (const fs::path& each : old) {
      fs::remove_all(each, failed);
      log::info("removed what an interrupted write left", {{"path", each.string()}});
      any = true;
    }
  }
  return any;
}

/// Lock files of references whose writers are gone.
bool remove_locks(const std::string& repository) {
  bool any = false;
  std::error_code failed;
  std::vector<std::string> locks;
  for (const char* file : {"/HEAD.lock", "/packed-refs.lock", "/config.lock"})
    if (fs::exists(repository + file, failed)) locks.push_back(repository + file);
  for (fs::recursive_directory_iterator it(repository + "/refs", failed), last; !failed && it != last;
       it.increment(failed))
    if (it->path().extension() == ".lock") locks.push_back(it->path().string());
  for (const std::string& each : locks) any = remove_stale_lock(repository, each, nullptr) || any;
  return any;
}

}  // namespace

Expected<bool> maintain(const std::string& repository_path, Upkeep upkeep) {
  bool any = remove_locks(repository_path);
  any = remove_leftovers(repository_path) || any;
  const auto lock = TRY(WriterLock::share(repository_path));
  const auto git = [&](std::vector<std::string> arguments) {
    arguments.insert(arguments.begin(), "--git-dir=" + repository_path);
    return run_git({.arguments = std::move(arguments), .keep_fd = lock.fd(), .silence = repack_silence}, {});
  };
  if (upkeep == Upkeep::thorough) {
    // What nobody reaches stays for two weeks: a push under way may be about to reach it.
    TRY(git({"gc", "--quiet", "--prune=2.weeks.ago"}));
    return true;
  }
  const bool many_packs = count_files(repository_path + "/objects/pack", ".pack") > packs_wanted;
  const bool many_loose = count_files(repository_path + "/objects/17", "") > loose_wanted;
  if (!many_packs && !many_loose) return any;
  // Geometric: each pack at least twice as large as the next smaller one, so large ones are rarely written again.
  TRY(git({"repack", "-d", "-l", "-q", "--geometric=2"}));
  TRY(git({"pack-refs", "--all"}));
  return true;
}

Expected<std::vector<std::string>> fsck(const std::string& repository_path) {
  const auto child =
      TRY(start_git({.arguments = {"--git-dir=" + repository_path, "fsck", "--full", "--no-dangling", "--no-progress"},
                     .silence = repack_silence}));
  child->close_input();
  std::string text;
  const bool whole = child->drain([&](std::string_view piece) {
    if (text.size() < (1U << 20U)) text.append(piece);
    return true;
  });
  if (!whole) return git_error_of(Fault::broken, "git fsck was stopped");
  const int status = child->wait();
  text += child->errors();
  std::vector<std::string> faults;
  for (std::size_t at = 0; at < text.size();) {
    const std::size_t end = std::min(text.find('\n', at), text.size());
    std::string line = text.substr(at, end - at);
    at = end + 1;
    // An empty repository, and faults of old tools that receive-pack lets pass as well.
    if (line.empty() || line.starts_with("notice:") || line.starts_with("warning ")) continue;
    faults.push_back(std::move(line));
  }
  if (status == 0) faults.clear();
  if (status != 0 && faults.empty()) faults.push_back(fmt::format("git fsck ended with {}", status));
  return faults;
}

Expected<std::uint64_t> disk_size(const std::string& repository_path) {
  std::error_code failed;
  std::uint64_t bytes = 0;
  for (fs::recursive_directory_iterator it(repository_path + "/objects", failed), last; !failed && it != last;
       it.increment(failed)) {
    std::error_code gone;
    if (const auto size = it->is_regular_file(gone) ? it->file_size(gone) : 0; !gone) bytes += size;
  }
  if (failed) return system_error(failed.value(), repository_path);
  return bytes;
}

Expected<void> each_lfs_pointer(const std::string& repository_path,
                                const std::function<void(const LfsPointer&)>& visit) {
  const auto handle = TRY(open_handle(repository_path));
  const auto odb = TRY(open_objects(handle.get()));
  struct Visit {
    git_odb* odb;
    const std::function<void(const LfsPointer&)>& visit;
    int fault = 0;
  } all{odb.get(), visit};
  const int code = git_odb_foreach(
      odb.get(),
      [](const git_oid* id, void* payload) {
        auto& state = *static_cast<Visit*>(payload);
        std::size_t size = 0;
        git_object_t type{};
        if (const int fault = git_odb_read_header(&size, &type, state.odb, id); fault != 0) return state.fault = fault;
        if (type != GIT_OBJECT_BLOB || size > lfs_pointer_most || size < 100) return 0;
        git_odb_object* object = nullptr;
        if (const int fault = git_odb_read(&object, state.odb, id); fault != 0) return state.fault = fault;
        const OdbObjectHandle held(object);
        if (const auto pointer = parse_lfs_pointer({static_cast<const char*>(git_odb_object_data(object)), size}))
          state.visit(*pointer);
        return 0;
      },
      &all);
  if (code != 0) return library_error(code, "objects cannot be listed");
  return {};
}

}  // namespace stackgate::datastore::git
