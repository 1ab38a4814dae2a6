#include "services/kit/objects/directory_paths.hpp"

#include <cerrno>
#include <system_error>

#include <fcntl.h>
#include <sys/stat.h>

namespace stackgate::objects {
namespace directory_paths_detail {

constexpr int folder_flags = O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC;

// Another process may make the same folder at the same time; its name must be on disk before ours relies on it.
files::File open_or_make(int parent, const char* name) {
  files::File folder(::openat(parent, name, folder_flags));
  if (folder || errno != ENOENT) return folder;
  if (::mkdirat(parent, name, 0777) != 0 && errno != EEXIST) return {};
  if (::fsync(parent) != 0) return {};
  return files::File(::openat(parent, name, folder_flags));
}

}  // namespace directory_paths_detail

StoreError errno_error(int number, std::string_view what) {
  Fault fault = Fault::broken;
  std::string advice;
  switch (number) {
    case ENOENT:
      fault = Fault::missing;
      break;
    case ENOSPC:
    case EDQUOT:
      fault = Fault::full;
      advice = "; free or add space";
      break;
    case EFBIG:
      fault = Fault::full;
      advice = "; the file system or a limit of this process takes no file of that size";
      break;
    case EACCES:
    case EPERM:
      fault = Fault::refused;
      advice = "; give this process's user the right to it";
      break;
    case EROFS:
      fault = Fault::refused;
      advice = "; mount it for writing";
      break;
    case EISDIR:
    case ENOTDIR:
    case ENOTEMPTY:
      fault = Fault::refused;
      advice = "; a key cannot be another key's folder";
      break;
    case ELOOP:
      fault = Fault::refused;
      advice = "; symbolic links are not followed here";
      break;
    case ESTALE:
    case ETIMEDOUT:
    case EHOSTDOWN:
      fault = Fault::away;
      break;
    default:
      break;
  }
  return {fault, std::string(what) + ": " + std::generic_category().message(number) + advice};
}

StoreError key_error(std::string_view key) {
  std::string shown(key.substr(0, 80));
  for (char& c : shown)
    if (c < ' ' || c > '~') c = '?';
  return {Fault::refused,
          "\"" + shown +
              "\" is no object key: segments of letters, digits and \"._=-\" between single slashes, at "
              "most 255 bytes each and 512 in all"};
}

files::File open_folder_of(int root, std::string_view key, bool make) {
  using namespace directory_paths_detail;
  files::File at(::openat(root, ".", folder_flags));
  for (std::size_t end = key.find('/'); at && end != std::string_view::npos; end = key.find('/')) {
    const std::string segment(key.substr(0, end));
    at = make ? open_or_make(at.fd(), segment.c_str()) : files::File(::openat(at.fd(), segment.c_str(), folder_flags));
    key.remove_prefix(end + 1);
  }
  return at;
}

std::string leaf_of(std::string_view key) {
  const std::size_t slash = key.rfind('/');
  return std::string(slash == std::string_view::npos ? key : key.substr(slash + 1));
}

}  // namespace stackgate::objects
