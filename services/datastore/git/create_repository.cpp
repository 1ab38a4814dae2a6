#include <cerrno>
#include <cstdlib>
#include <filesystem>

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/stat.h>
#include <unistd.h>

#include "services/datastore/git/library.hpp"
#include "services/datastore/git/names.hpp"
#include "services/datastore/git/write.hpp"
#include "services/kit/files/file.hpp"

namespace stackgate::datastore::git {
namespace {

/// What our own processes are told on their command line anyway; here for whoever runs git in the folder by hand.
constexpr std::string_view repository_config =
    "[core]\n\trepositoryformatversion = 0\n\tfilemode = true\n\tbare = true\n\thooksPath = /dev/null\n"
    "\tfsync = committed\n"
    "[gc]\n\tauto = 0\n[receive]\n\tfsckObjects = true\n\tautogc = false\n\tunpackLimit = 1\n"
    "[uploadpack]\n\tallowFilter = true\n";

int write_new_file(const std::string& path, std::string_view text) {
  const files::File file(::open(path.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0644));
  if (!file) return errno;
  if (const int fault = files::write_all(file.fd(), text); fault != 0) return fault;
  return ::fsync(file.fd()) == 0 ? 0 : errno;
}

int fill_repository(const std::string& path, std::string_view default_branch) {
  for (const char* folder : {"/objects", "/objects/info", "/objects/pack", "/refs", "/refs/heads", "/refs/tags"})
    if (::mkdir((path + folder).c_str(), 0755) != 0) return errno;
  if (const int fault = write_new_file(path + "/config", repository_config); fault != 0) return fault;
  if (const int fault = write_new_file(path + "/HEAD", fmt::format("ref: refs/heads/{}\n", default_branch)); fault != 0)
    return fault;
  for (const char* folder : {"/objects", "/refs", ""})
    if (const int fault = files::sync_directory(path + folder); fault != 0) return fault;
  return ::chmod(path.c_str(), 0755) == 0 ? 0 : errno;
}

}  // namespace

Expected<void> create_repository(const std::string& repository_path, std::string_view default_branch) {
  if (auto fault = fault_of_branch_name(default_branch)) return git_error_of(Fault::invalid, std::move(*fault));
  const std::filesystem::path path(repository_path);
  std::error_code failed;
  const std::filesystem::path parent = path.parent_path();
  std::filesystem::create_directories(parent, failed);
  if (failed) return system_error(failed.value(), parent.string());
  std::string building = repository_path + ".new-XXXXXX";
  if (::mkdtemp(building.data()) == nullptr) return system_error(errno, repository_path);
  int fault = fill_repository(building, default_branch);
  if (fault == 0 && ::rename(building.c_str(), repository_path.c_str()) != 0) fault = errno;
  if (fault == 0) fault = files::sync_directory(parent.string());
  if (fault == 0) return {};
  std::filesystem::remove_all(building, failed);
  if (fault == ENOTEMPTY || fault == EEXIST || fault == ENOTDIR)
    return git_error_of(Fault::exists, fmt::format("{} is there already", repository_path));
  return system_error(fault, repository_path);
}

}  // namespace stackgate::datastore::git
