#include "services/datastore/git/reference.hpp"

#include <cerrno>
#include <thread>
#include <utility>

#include <dirent.h>
#include <fcntl.h>
#include <fmt/format.h>
#include <sys/stat.h>
#include <unistd.h>

#include "services/datastore/git/library.hpp"
#include "services/datastore/git/names.hpp"
#include "services/kit/base/try.hpp"

namespace stackgate::datastore::git {
namespace {

constexpr std::uint64_t most_packed = 256U << 20U;

/// "<oid> <name>" lines of packed-refs.
struct Packed {
  Oid oid;                  // of `name`, or empty
  bool in_the_way = false;  // "name/…" exists, or what `name` lies under
};

Expected<Packed> look_in_packed(const std::string& repository, std::string_view name) {
  Packed out;
  const auto text = read_file(repository + "/packed-refs", most_packed);
  if (!text && text.error().fault == Fault::missing) return out;
  if (!text) return std::unexpected(text.error());
  for (std::string_view rest = *text; !rest.empty();) {
    const auto end = rest.find('\n');
    const std::string_view line = rest.substr(0, end);
    rest.remove_prefix(end == std::string_view::npos ? rest.size() : end + 1);
    if (line.size() < 42 || line[40] != ' ') continue;
    const std::string_view other = line.substr(41);
    if (other == name) out.oid = line.substr(0, 40);
    const std::string_view longer = other.size() > name.size() ? other : name;
    const std::string_view shorter = other.size() > name.size() ? name : other;
    if (longer.size() > shorter.size() && longer[shorter.size()] == '/' && longer.starts_with(shorter))
      out.in_the_way = true;
  }
  return out;
}

/// Makes the folders of `path`, below `root`. git removes empty ones, so this may be a race: the caller tries again.
int make_folders(const std::string& root, const std::string& path) {
  for (std::size_t at = path.find('/', root.size() + 1); at != std::string::npos; at = path.find('/', at + 1))
    if (::mkdir(path.substr(0, at).c_str(), 0755) != 0 && errno != EEXIST) return errno;
  return 0;
}

/// Removes a folder in which only empty folders are left.
bool remove_empty_folders(const std::string& path) {
  if (DIR* folder = ::opendir(path.c_str())) {
    while (const dirent* entry = ::readdir(folder)) {
      const std::string_view name = entry->d_name;
      if (name != "." && name != "..") remove_empty_folders(fmt::format("{}/{}", path, name));
    }
    ::closedir(folder);
  }
  return ::rmdir(path.c_str()) == 0;
}

/// The lock file, which goes away unless it was renamed.
class RefLock {
 public:
  static Expected<RefLock> take(const std::string& repository, const std::string& name, const WriterLock* own) {
    const std::string path = fmt::format("{}/{}.lock", repository, name);
    using namespace std::chrono_literals;
    for (int attempt = 0; attempt < 60; ++attempt) {
      files::File file(::open(path.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0644));
      if (file) return RefLock(path, std::move(file));
      if (errno == ENOENT) {
        const int fault = make_folders(repository, path);
        if (fault == 0 || fault == ENOENT) continue;
        errno = fault;
      }
      if (errno == ENOTDIR || errno == EISDIR)
        return git_error_of(Fault::exists, fmt::format("another reference's name is part of {}", name));
      if (errno != EEXIST) return system_error(errno, path);
      if (attempt == 20) remove_stale_lock(repository, path, own);
      std::this_thread::sleep_for(10ms);
    }
    return git_error_of(Fault::conflict, fmt::format("{} is being moved by somebody else: try again", name));
  }
  RefLock(RefLock&& other) noexcept : path_(std::exchange(other.path_, {})), file_(std::move(other.file_)) {}
  RefLock& operator=(RefLock&&) = delete;
  ~RefLock() {
    if (!path_.empty()) ::unlink(path_.c_str());
  }

  Expected<void> commit(std::string_view content) {
    const std::string to = path_.substr(0, path_.size() - 5);
    if (const int fault = files::write_all(file_.fd(), content); fault != 0) return system_error(fault, path_);
    if (::fsync(file_.fd()) != 0) return system_error(errno, path_);
    file_.close();
    while (::rename(path_.c_str(), to.c_str()) != 0) {
      if (errno != EISDIR && errno != ENOTEMPTY && errno != EEXIST) return system_error(errno, to);
      if (!remove_empty_folders(to))
        return git_error_of(Fault::exists, fmt::format("references lie below {}", to.substr(to.find("refs/"))));
    }
    path_.clear();
    if (const int fault = files::sync_directory(to.substr(0, to.rfind('/'))); fault != 0)
      return system_error(fault, to);
    return {};
  }

 private:
  RefLock(std::string path, files::File file) : path_(std::move(path)), file_(std::move(file)) {}
  std::string path_;
  files::File file_;
};

}  // namespace

std::optional<Target> parse_reference(std::string_view text) {
  while (!text.empty() && (text.back() == '\n' || text.back() == ' ' || text.back() == '\t' || text.back() == '\r'))
    text.remove_suffix(1);
  if (text.starts_with("ref:")) {
    text.remove_prefix(4);
    while (text.starts_with(' ') || text.starts_with('\t')) text.remove_prefix(1);
    if (text.empty()) return std::nullopt;
    return Target{{}, std::string(text)};
  }
  if (!is_oid(text)) return std::nullopt;
  return Target{std::string(text), {}};
}

Expected<std::optional<Target>> read_reference(const std::string& repository, const std::string& name) {
  const std::string path = fmt::format("{}/{}", repository, name);
  auto loose = read_file(path, 4096);
  if (loose) {
    auto target = parse_reference(*loose);
    if (!target) return git_error_of(Fault::broken, fmt::format("the file of {} holds no reference", name));
    return target;
  }
  if (loose.error().fault != Fault::missing) return std::unexpected(loose.error());
  const auto packed = TRY(look_in_packed(repository, name));
  if (packed.oid.empty()) return std::optional<Target>{};
  return Target{packed.oid, {}};
}

Expected<void> move_reference(const std::string& repository, const std::string& name, const Oid& before,
                              const Oid& after, const WriterLock* own) {
  auto lock = TRY(RefLock::take(repository, name, own));
  const auto now = TRY(read_reference(repository, name));
  const Oid tip = now ? now->oid : Oid{};
  if (tip != before || (now && !now->symbolic.empty()))
    return git_error_of(Fault::conflict, fmt::format("{} is at {}, not at {}", name, tip.empty() ? "no commit" : tip,
                                                     before.empty() ? "no commit" : before));
  if (before.empty()) {
    const auto packed = TRY(look_in_packed(repository, name));
    if (packed.in_the_way)
      return git_error_of(Fault::exists, fmt::format("another reference's name is in the way of {}", name));
  }
  return lock.commit(after + "\n");
}

Expected<void> point_symbolic(const std::string& repository, const std::string& name, const std::string& target,
                              const WriterLock* own) {
  auto lock = TRY(RefLock::take(repository, name, own));
  return lock.commit(fmt::format("ref: {}\n", target));
}

}  // namespace stackgate::datastore::git
