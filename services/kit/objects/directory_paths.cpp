#include "services/kit/objects/directory_paths.hpp"

#include <algorithm>
#include <cerrno>
#include <system_error>

#include <fcntl.h>
#include <sys/stat.h>

#include "services/kit/base/concat.hpp"

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

struct Meaning {
  int number = 0;
  Fault fault = Fault::broken;
  std::string_view advice{};
};

constexpr std::string_view add_space = "; free or add space", give_right = "; give this process's user the right to it",
                           no_folder = "; a key cannot be another key's folder";
constexpr Meaning meanings[] = {
    {ENOENT, Fault::missing},
    {ENOSPC, Fault::full, add_space},
    {EDQUOT, Fault::full, add_space},
    {EFBIG, Fault::full, "; the file system or a limit of this process takes no file of that size"},
    {EACCES, Fault::refused, give_right},
    {EPERM, Fault::refused, give_right},
    {EROFS, Fault::refused, "; mount it for writing"},
    {EISDIR, Fault::refused, no_folder},
    {ENOTDIR, Fault::refused, no_folder},
    {ENOTEMPTY, Fault::refused, no_folder},
    {ELOOP, Fault::refused, "; symbolic links are not followed here"},
    {ESTALE, Fault::away},
    {ETIMEDOUT, Fault::away},
    {EHOSTDOWN, Fault::away},
};

}  // namespace directory_paths_detail

StoreError errno_error(int number, std::string_view what) {
  using namespace directory_paths_detail;
  const auto* const found = std::ranges::find(meanings, number, &Meaning::number);
  const Meaning meaning = found == std::end(meanings) ? Meaning{} : *found;
  return {meaning.fault, concat({what, ": ", std::generic_category().message(number), meaning.advice})};
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
