#include "services/puller/transfer/place.hpp"

#include <filesystem>
#include <set>

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <sys/statvfs.h>
#include <unistd.h>

#include "services/kit/base/try.hpp"
#include "services/kit/crypto/digest.hpp"

namespace stackgate::puller {
namespace place_detail {

namespace fs = std::filesystem;
constexpr std::uint64_t largest_manifest = 64U << 20U;

Result<void> failed(std::string_view what, std::string_view path, int error) {
  return std::unexpected(failure_of_system(fmt::format("{} {}", what, path), error));
}

Result<void> make_directory(const std::string& path) {
  if (::mkdir(path.c_str(), 0777) == 0) return {};
  const int error = errno;
  struct stat is{};
  // A link may lead out of the output, whoever has put it there.
  if (error == EEXIST && ::lstat(path.c_str(), &is) == 0 && S_ISDIR(is.st_mode)) return {};
  return failed("make the directory", path, error == EEXIST ? ENOTDIR : error);
}

/// The folders of `path` below `top`, which is there.
Result<void> make_folders(const std::string& top, std::string_view path) {
  for (auto slash = path.find('/'); slash != std::string_view::npos; slash = path.find('/', slash + 1))
    TRY(make_directory(top + "/" + std::string(path.substr(0, slash))));
  return {};
}

bool is_mount(const std::string& path) {
  struct statx is{};
  if (::statx(AT_FDCWD, path.c_str(), AT_NO_AUTOMOUNT, STATX_TYPE, &is) != 0) return false;
  return (is.stx_attributes_mask & STATX_ATTR_MOUNT_ROOT) != 0 && (is.stx_attributes & STATX_ATTR_MOUNT_ROOT) != 0;
}

Result<void> sync_folders(const std::string& top) {
  std::error_code error;
  if (const int code = files::sync_directory(top)) return failed("sync", top, code);
  for (fs::recursive_directory_iterator at(top, error), end; !error && at != end; at.increment(error)) {
    const bool folder = at->is_directory(error) && !at->is_symlink(error);
    if (folder && at->path().filename() == staging_name) at.disable_recursion_pending();
    if (!folder) continue;
    if (const int code = files::sync_directory(at->path().string())) return failed("sync", at->path().string(), code);
  }
  return {};
}

Result<void> write_durably(const std::string& path, std::string_view text) {
  const std::string aside = path + ".new";
  files::File file(::open(aside.c_str(), O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC | O_NOFOLLOW, 0666));
  if (!file) return failed("write", aside, errno);
  if (const int error = files::write_all(file.fd(), text)) return failed("write", aside, error);
  if (::fsync(file.fd()) != 0) return failed("sync", aside, errno);
  if (::rename(aside.c_str(), path.c_str()) != 0) return failed("rename", aside, errno);
  return {};
}

}  // namespace place_detail

std::optional<std::uint64_t> size_of(const std::string& path) {
  struct stat is{};
  if (::lstat(path.c_str(), &is) != 0 || !S_ISREG(is.st_mode)) return std::nullopt;
  return static_cast<std::uint64_t>(is.st_size);
}

Result<Place> Place::open(const std::string& output) {
  using namespace place_detail;
  std::error_code error;
  fs::path path = fs::absolute(output, error).lexically_normal();
  if (!path.has_filename()) path = path.parent_path();
  Place out;
  out.output_ = path.string();
  const std::string parent = path.parent_path().string();
  fs::create_directories(parent, error);
  if (error) return std::unexpected(failure_of_system("make the directory " + parent, error.value()));
  const bool there = fs::exists(out.output_, error);
  out.in_place_ = there && (is_mount(out.output_) || ::access(parent.c_str(), W_OK) != 0);
  out.staging_ = out.in_place_ ? fmt::format("{}/{}", out.output_, staging_name)
                               : fmt::format("{}/{}-{}", parent, staging_name, path.filename().string());
  TRY(out.lock());
  for (const char* each : {"/parts", "/files"}) TRY(make_directory(out.staging_ + each));
  return out;
}

/// The one whose file has the name: another pull may just be removing it.
Result<void> Place::lock() {
  using namespace place_detail;
  const std::string name = staging_ + "/lock";
  const Failure busy{Cause::network, fmt::format("another pull into {} is at work", output_),
                     "wait for its end, or take another --output"};
  for (int tried = 0; tried < 10; ++tried) {
    TRY(make_directory(staging_));
    lock_ = files::File(::open(name.c_str(), O_RDWR | O_CREAT | O_CLOEXEC | O_NOFOLLOW, 0666));
    if (!lock_ && errno == ENOENT) continue;
    if (!lock_) return std::unexpected(failure_of_system("open " + name, errno));
    if (::flock(lock_.fd(), LOCK_EX | LOCK_NB) != 0 && errno == EWOULDBLOCK) return std::unexpected(busy);
    struct stat held{}, named{};
    const bool same = ::fstat(lock_.fd(), &held) == 0 && ::lstat(name.c_str(), &named) == 0 &&
                      held.st_ino == named.st_ino && held.st_dev == named.st_dev;
    if (same) return {};
  }
  return std::unexpected(busy);
}

std::optional<Manifest> Place::manifest() const {
  const auto text = files::read_file(output_path(manifest_name), place_detail::largest_manifest);
  return text ? read_manifest(*text) : std::nullopt;
}

std::string Place::whole_path(const RemoteFile& file) const {
  const std::string name = identity_of(file) + "\n" + file.path;
  return fmt::format("{}/parts/{}", staging_, crypto::to_hex(crypto::sha256(name)).substr(0, 40));
}

Result<std::uint64_t> Place::free_bytes() const {
  struct statvfs is{};
  if (::statvfs(staging_.c_str(), &is) != 0) return std::unexpected(failure_of_system("look at " + staging_, errno));
  return static_cast<std::uint64_t>(is.f_bavail) * is.f_frsize;
}

std::optional<std::string> Place::foreign_file(const std::optional<Manifest>& manifest) const {
  using namespace place_detail;
  std::set<std::string> ours{std::string(manifest_name)};
  if (manifest)
    for (const ManifestFile& file : manifest->files) ours.insert(file.path);
  std::error_code error;
  for (fs::recursive_directory_iterator at(output_, error), end; !error && at != end; at.increment(error)) {
    if (at->is_directory(error) && !at->is_symlink(error)) continue;
    std::string path = at->path().lexically_relative(output_).string();
    if (!ours.contains(path)) return path;
  }
  return std::nullopt;
}

Result<void> Place::keep_whole(const RemoteFile& file) const {
  using namespace place_detail;
  const std::string part = part_path(file), whole = whole_path(file);
  if (::rename(part.c_str(), whole.c_str()) != 0) return failed("rename", part, errno);
  ::unlink(record_path(file).c_str());
  if (const int error = files::sync_directory(staging_ + "/parts")) return failed("sync", staging_, error);
  return {};
}

void Place::drop_other_parts(const std::vector<RemoteFile>& wanted) const {
  using namespace place_detail;
  std::set<std::string> keys;
  for (const RemoteFile& file : wanted) keys.insert(fs::path(whole_path(file)).filename().string());
  std::vector<fs::path> others;
  std::error_code error;
  for (fs::directory_iterator at(staging_ + "/parts", error), end; !error && at != end; at.increment(error))
    if (!keys.contains(at->path().stem().string())) others.push_back(at->path());
  for (const fs::path& each : others) fs::remove(each, error);
}

bool Place::link_whole(const RemoteFile& file) const {
  return ::link(output_path(file.path).c_str(), whole_path(file).c_str()) == 0;
}

Result<void> Place::take_back(const RemoteFile& file) const {
  const std::string from = staged_path(file.path);
  if (::rename(from.c_str(), whole_path(file).c_str()) != 0) return place_detail::failed("rename", from, errno);
  return {};
}

Result<void> Place::clear_staged() const {
  std::error_code error;
  std::filesystem::remove_all(staging_ + "/files", error);
  return place_detail::make_directory(staging_ + "/files");
}

Result<void> Place::move_in(const std::vector<RemoteFile>& files, const std::string& target,
                            const std::function<void(std::string_view)>& moved) const {
  using namespace place_detail;
  for (const RemoteFile& file : files) {
    const std::string from = whole_path(file), to = target + "/" + file.path;
    if (!size_of(from)) continue;  // at its place already
    TRY(make_folders(target, file.path));
    if (::rename(from.c_str(), to.c_str()) != 0) return failed("rename", to, errno);
    moved("moved");
  }
  return {};
}

Result<void> Place::replace_output() const {
  using namespace place_detail;
  const std::string made = staging_ + "/files", parent = fs::path(output_).parent_path().string();
  TRY(sync_folders(made));
  // Takes the place of nothing or of an empty directory; else the two change places.
  if (::rename(made.c_str(), output_.c_str()) != 0) {
    if (errno != ENOTEMPTY && errno != EEXIST) return failed("rename to", output_, errno);
    if (::renameat2(AT_FDCWD, made.c_str(), AT_FDCWD, output_.c_str(), RENAME_EXCHANGE) != 0)
      return failed("replace", output_, errno);
  }
  if (const int error = files::sync_directory(parent)) return failed("sync", parent, error);
  return {};
}

Result<void> Place::publish(const Manifest& manifest, const std::vector<RemoteFile>& files,
                            const std::optional<Manifest>& before,
                            const std::function<void(std::string_view)>& moved) const {
  using namespace place_detail;
  if (!in_place_) {
    TRY(move_in(files, staging_ + "/files", moved));
    TRY(write_durably(staged_path(manifest_name), write_manifest(manifest)));
    moved("ready");
    return replace_output();
  }
  ::unlink(output_path(manifest_name).c_str());
  TRY(move_in(files, output_, moved));
  std::set<std::string_view> kept;
  for (const RemoteFile& file : files) kept.insert(file.path);
  if (before)
    for (const ManifestFile& file : before->files)
      if (!kept.contains(file.path)) ::unlink(output_path(file.path).c_str());
  TRY(sync_folders(output_));
  moved("ready");
  TRY(write_durably(output_path(manifest_name), write_manifest(manifest)));
  if (const int error = files::sync_directory(output_)) return failed("sync", output_, error);
  return {};
}

void Place::remove_staging() const {
  std::error_code ignored;
  for (const char* each : {"/parts", "/files"}) std::filesystem::remove_all(staging_ + each, ignored);
  ::unlink((staging_ + "/lock").c_str());
  ::rmdir(staging_.c_str());  // unless the next pull has begun
}

}  // namespace stackgate::puller
