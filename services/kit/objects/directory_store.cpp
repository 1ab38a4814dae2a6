#include "services/kit/objects/directory_store.hpp"

#include <algorithm>
#include <cerrno>
#include <filesystem>
#include <system_error>
#include <utility>

#include <dirent.h>
#include <fcntl.h>
#include <sys/stat.h>

#include "services/kit/base/try.hpp"
#include "services/kit/log/log.hpp"
#include "services/kit/objects/directory_paths.hpp"
#include "services/kit/objects/directory_transfer.hpp"

namespace stackgate::objects {
namespace directory_store_detail {

constexpr const char* unfinished_name = "+unfinished";
constexpr int folder_flags = O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC;

using Clock = std::chrono::system_clock;

Info info_of(const struct stat& found) {
  const auto modified = std::chrono::seconds(found.st_mtim.tv_sec) + std::chrono::nanoseconds(found.st_mtim.tv_nsec);
  return {.size = static_cast<std::uint64_t>(found.st_size),
          .modified = Clock::time_point(std::chrono::duration_cast<Clock::duration>(modified))};
}

// The open file and what it is; only regular files are objects. A FIFO must not block us, hence O_NONBLOCK.
Expected<std::pair<files::File, Info>> open_object(int root, std::string_view key) {
  if (!valid_key(key)) return std::unexpected(key_error(key));
  const std::string what = "cannot open " + std::string(key);
  const files::File folder = open_folder_of(root, key, false);
  // "a" being an object, there is none under "a/b".
  if (!folder) return std::unexpected(errno_error(errno == ENOTDIR ? ENOENT : errno, what));
  files::File file(::openat(folder.fd(), leaf_of(key).c_str(), O_RDONLY | O_NOFOLLOW | O_CLOEXEC | O_NONBLOCK));
  struct stat found{};
  if (!file || ::fstat(file.fd(), &found) != 0) return std::unexpected(errno_error(errno, what));
  if (S_ISDIR(found.st_mode)) return std::unexpected(errno_error(ENOENT, what));
  if (!S_ISREG(found.st_mode)) return std::unexpected(StoreError{Fault::refused, what + ": it is no regular file"});
  return std::pair(std::move(file), info_of(found));
}

class Folder {
 public:
  explicit Folder(files::File fd) : fd_(fd.fd()), stream_(fd ? ::fdopendir(fd.fd()) : nullptr) {
    if (stream_ != nullptr) fd.release();
  }
  ~Folder() {
    if (stream_ != nullptr) ::closedir(stream_);
  }
  Folder(const Folder&) = delete;
  Folder& operator=(const Folder&) = delete;
  explicit operator bool() const { return stream_ != nullptr; }
  int fd() const { return fd_; }
  /// nullptr at the end, and with errno set at a fault.
  const dirent* next() {
    errno = 0;
    return ::readdir(stream_);
  }

 private:
  int fd_;
  DIR* stream_;
};

struct Walk {
  std::string_view prefix;
  const std::function<bool(const Entry&)>& visit;
  bool stopped = false;
};

// Depth is bounded by the length of a key. What vanishes while we look was removed: no error.
Expected<void> walk(files::File at, const std::string& path, Walk& state) {
  Folder folder(std::move(at));
  if (!folder) return std::unexpected(errno_error(errno, "cannot list " + path));
  while (const dirent* found = folder.next()) {
    const std::string key = path + found->d_name;
    if (!valid_key(key)) continue;
    const std::size_t common = std::min(key.size(), state.prefix.size());
    if (std::string_view(key).substr(0, common) != state.prefix.substr(0, common)) continue;
    struct stat about{};
    if (::fstatat(folder.fd(), found->d_name, &about, AT_SYMLINK_NOFOLLOW) != 0) continue;
    if (S_ISDIR(about.st_mode)) {
      files::File below(::openat(folder.fd(), found->d_name, folder_flags));
      if (!below && errno == ENOENT) continue;
      if (!below) return std::unexpected(errno_error(errno, "cannot list " + key));
      if (auto done = walk(std::move(below), key + "/", state); !done || state.stopped) return done;
    } else if (S_ISREG(about.st_mode) && key.starts_with(state.prefix) && !state.visit({key, info_of(about)})) {
      state.stopped = true;
      return {};
    }
    errno = 0;
  }
  if (errno != 0) return std::unexpected(errno_error(errno, "cannot list " + path));
  return {};
}

// A crash leaves an unfinished upload behind. Its age tells it from one that another process is writing now.
void sweep(int unfinished, std::chrono::seconds stale_after) {
  Folder folder(files::File(::openat(unfinished, ".", folder_flags)));
  if (!folder) return;
  std::uint64_t removed = 0;
  while (const dirent* found = folder.next()) {
    struct stat about{};
    if (::fstatat(folder.fd(), found->d_name, &about, AT_SYMLINK_NOFOLLOW) != 0 || S_ISDIR(about.st_mode)) continue;
    if (info_of(about).modified + stale_after > Clock::now()) continue;
    if (::unlinkat(folder.fd(), found->d_name, 0) == 0) ++removed;
  }
  if (removed > 0) log::info("unfinished uploads of an earlier run removed", {{"count", removed}});
}

}  // namespace directory_store_detail

using namespace directory_store_detail;

Expected<std::unique_ptr<DirectoryStore>> DirectoryStore::open_at(const std::string& path,
                                                                  std::chrono::seconds stale_after) {
  std::error_code fault;
  std::filesystem::create_directories(path, fault);
  if (fault) return std::unexpected(errno_error(fault.value(), "cannot make the object directory " + path));
  // The directory itself may be a link: where it lies is the administrator's choice.
  files::File root(::open(path.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC));
  if (!root) return std::unexpected(errno_error(errno, "cannot open the object directory " + path));
  if (::mkdirat(root.fd(), unfinished_name, 0777) != 0 && errno != EEXIST)
    return std::unexpected(errno_error(errno, "cannot write to the object directory " + path));
  files::File unfinished(::openat(root.fd(), unfinished_name, folder_flags));
  if (!unfinished) return std::unexpected(errno_error(errno, "cannot open " + path + "/" + unfinished_name));
  sweep(unfinished.fd(), stale_after);
  return std::unique_ptr<DirectoryStore>(new DirectoryStore(path, std::move(root), std::move(unfinished)));
}

Expected<Info> DirectoryStore::stat(std::string_view key) {
  auto object = TRY(open_object(root_.fd(), key));
  return object.second;
}

Expected<std::unique_ptr<Upload>> DirectoryStore::create(std::string_view key, std::optional<std::uint64_t> size) {
  if (!valid_key(key)) return std::unexpected(key_error(key));
  return start_file_upload(root_.fd(), unfinished_.fd(), std::string(key), size);
}

Expected<std::unique_ptr<Download>> DirectoryStore::open(std::string_view key, std::uint64_t offset) {
  auto object = TRY(open_object(root_.fd(), key));
  auto& [file, info] = object;
  if (offset > info.size)
    return std::unexpected(StoreError{Fault::refused, std::string(key) + " has only " + std::to_string(info.size) +
                                                          " bytes, none at " + std::to_string(offset)});
  return start_file_download(std::move(file), info.size, offset, std::string(key));
}

Expected<void> DirectoryStore::remove(std::string_view key) {
  if (!valid_key(key)) return std::unexpected(key_error(key));
  const files::File folder = open_folder_of(root_.fd(), key, false);
  if (!folder && (errno == ENOENT || errno == ENOTDIR)) return {};
  // A folder of other keys is no object (EISDIR).
  if (!folder || (::unlinkat(folder.fd(), leaf_of(key).c_str(), 0) != 0 && errno != ENOENT && errno != EISDIR))
    return std::unexpected(errno_error(errno, "cannot remove " + std::string(key)));
  return {};
}

Expected<void> DirectoryStore::list(std::string_view prefix, const std::function<bool(const Entry&)>& visit) {
  Walk state{.prefix = prefix, .visit = visit};
  // Begin as deep as the prefix allows.
  const std::size_t slash = prefix.rfind('/');
  const std::string folder(slash == std::string_view::npos ? std::string_view() : prefix.substr(0, slash + 1));
  if (!folder.empty() && !valid_key(folder + "x")) return {};
  files::File at = open_folder_of(root_.fd(), folder + "x", false);
  if (!at && (errno == ENOENT || errno == ENOTDIR)) return {};
  if (!at) return std::unexpected(errno_error(errno, "cannot list " + folder));
  return walk(std::move(at), folder, state);
}

Expected<void> DirectoryStore::check() {
  auto upload = start_file_upload(root_.fd(), unfinished_.fd(), "check", std::nullopt);
  if (!upload) {
    upload.error().message = "the object directory " + path_ + " takes no file: " + upload.error().message;
    return std::unexpected(std::move(upload.error()));
  }
  TRY((*upload)->write("x"));
  return {};
}

}  // namespace stackgate::objects
