// A directory of adapters' folders, as NIM and vLLM's resolver for file systems lay it out.
#include <array>
#include <cerrno>
#include <cstring>
#include <filesystem>
#include <map>

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/stat.h>
#include <unistd.h>

#include "services/inference/adapters/unpack.hpp"
#include "services/kit/base/time.hpp"
#include "services/kit/base/try.hpp"
#include "services/kit/files/file.hpp"
#include "services/kit/peft/config.hpp"
#include "services/kit/peft/layout.hpp"

namespace stackgate::inference {
namespace {

namespace fs = std::filesystem;

constexpr std::uint64_t largest_config = 4U << 20U;

/// Zeros for a file that is not there; `unknown` is set where that cannot be told.
FileIdentity identity_of(const std::string& path, bool& unknown) {
  struct stat is{};
  if (::stat(path.c_str(), &is) != 0) {
    unknown = unknown || (errno != ENOENT && errno != ENOTDIR);
    return {};
  }
  return {std::int64_t{is.st_mtim.tv_sec} * 1'000'000'000 + is.st_mtim.tv_nsec, static_cast<std::uint64_t>(is.st_size),
          is.st_ino};
}

std::string path_in(const std::string& folder, std::string_view name) { return folder + "/" + std::string(name); }

std::array<FileIdentity, 2> identities_of(const std::string& folder, bool& unknown) {
  return {identity_of(path_in(folder, peft::config_name), unknown),
          identity_of(path_in(folder, peft::weights_name), unknown)};
}

class FolderSource final : public AdapterSource {
 public:
  FolderSource(std::string directory, std::function<void()> at_folder)
      : directory_(std::move(directory)), at_folder_(std::move(at_folder)) {}

  std::expected<std::optional<AdapterList>, std::string> list(const std::stop_token&) override {
    AdapterList out;
    std::map<std::string, std::string> bases;
    bool unknown = false;
    // What was opened is read, wherever it is moved meanwhile: by its name its folders may be gone for a moment.
    const files::File opened(::open(directory_.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC));
    if (!opened) return std::unexpected(fmt::format("cannot read {}: {}", directory_, std::strerror(errno)));
    const std::string place = fmt::format("/proc/self/fd/{}", opened.fd());
    std::error_code error;
    fs::directory_iterator at(place, error);
    for (; !error && at != fs::directory_iterator(); at.increment(error)) {
      const std::string folder = at->path().string(), name = at->path().filename().string();
      if (at_folder_) at_folder_();
      const auto files = identities_of(folder, unknown);
      if (files[0].inode == 0 || name.starts_with('.')) continue;
      if (!is_adapter_name(name)) {
        if (out.fault.empty()) out.fault = fmt::format("a folder's name is none for an adapter: {}", name);
        continue;
      }
      const std::string id = folder_id(name, files);
      const auto known = bases_.find(id);
      const std::string base = known != bases_.end() ? known->second : base_of(path_in(folder, peft::config_name));
      bases[id] = base;
      const std::chrono::sys_time<std::chrono::nanoseconds> changed{std::chrono::nanoseconds(files[0].changed)};
      out.records.push_back({.id = id,
                             .name = name,
                             .base_model = base,
                             .created_at = to_rfc3339(std::chrono::floor<std::chrono::seconds>(changed)),
                             .source = path_in(directory_, name)});
    }
    if (error) return std::unexpected(fmt::format("cannot read {}: {}", directory_, error.message()));
    // The name may be another directory's now.
    if (unknown || identity_of(directory_, unknown).inode != identity_of(place, unknown).inode)
      return std::unexpected(fmt::format("{} changed, or failed, while it was read", directory_));
    bases_ = std::move(bases);
    return out;
  }

  std::expected<void, FetchFailure> fetch(const AdapterRecord& record, const std::string& directory,
                                          const std::stop_token&) override {
    TRY(copy_adapter(record.source, directory));
    bool unknown = false;
    if (folder_id(record.name, identities_of(record.source, unknown)) != record.id)
      return std::unexpected(FetchFailure{"the folder's files changed while they were copied", true});
    return {};
  }

 private:
  static std::string base_of(const std::string& config) {
    const auto text = files::read_file(config, largest_config);
    return text ? peft::read_config(*text).config.base_model : std::string();
  }

  const std::string directory_;
  const std::function<void()> at_folder_;
  std::map<std::string, std::string> bases_;  // by id: read once
};

std::expected<void, FetchFailure> copy_file(const std::string& from, const std::string& to) {
  const files::File in(::open(from.c_str(), O_RDONLY | O_CLOEXEC));
  if (!in) return std::unexpected(system_failure("open " + from, errno));
  const files::File out(::open(to.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0644));
  if (!out) return std::unexpected(system_failure("create " + to, errno));
  std::string space(1U << 20U, '\0');
  while (true) {
    const ssize_t got = ::read(in.fd(), space.data(), space.size());
    if (got < 0 && errno == EINTR) continue;
    if (got < 0) return std::unexpected(system_failure("read " + from, errno));
    if (got == 0) break;
    if (const int error = files::write_all(out.fd(), std::string_view(space).substr(0, static_cast<std::size_t>(got))))
      return std::unexpected(system_failure("write " + to, error));
  }
  if (::fsync(out.fd()) != 0) return std::unexpected(system_failure("sync " + to, errno));
  return {};
}

}  // namespace

std::expected<void, FetchFailure> copy_adapter(const std::string& from, const std::string& directory) {
  for (const std::string_view name : {peft::config_name, peft::weights_name}) {
    std::error_code error;
    if (!fs::is_regular_file(path_in(from, name), error))
      return std::unexpected(
          FetchFailure{fs::exists(path_in(from, peft::pickle_name), error)
                           ? "adapter_model.bin is a pickle, which is never opened: save with safe_serialization=True"
                           : fmt::format("{} is missing", name)});
    TRY(copy_file(path_in(from, name), path_in(directory, name)));
  }
  return {};
}

std::unique_ptr<AdapterSource> make_folder_source(std::string directory, std::function<void()> at_folder) {
  return std::make_unique<FolderSource>(std::move(directory), std::move(at_folder));
}

}  // namespace stackgate::inference
