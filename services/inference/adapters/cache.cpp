#include "services/inference/adapters/cache.hpp"

#include <cerrno>
#include <cstdio>
#include <cstring>
#include <filesystem>
#include <set>

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/file.h>
#include <unistd.h>

#include "services/inference/adapters/unpack.hpp"
#include "services/kit/json/parse.hpp"
#include "services/kit/json/read.hpp"
#include "services/kit/json/write.hpp"
#include "services/kit/log/log.hpp"

namespace stackgate::inference {
namespace {

namespace fs = std::filesystem;

constexpr std::string_view record_name = ".stackgate-adapter.json";
constexpr std::string_view part_ending = ".part";
constexpr std::uint64_t largest_record = 64U << 10U;

void remove_directory(const std::string& path) {
  std::error_code error;
  fs::remove_all(path, error);
  if (error) log::warning("a directory cannot be removed", {{"path", path}, {"error", error.message()}});
}

std::string write_record(const AdapterRecord& record, std::string_view source) {
  return json::object_text([&](json::Writer& w) {
    w.member("id", std::string_view(record.id));
    w.member("name", std::string_view(record.name));
    w.member("version", std::string_view(record.version));
    w.member("base_model", std::string_view(record.base_model));
    w.member("created_at", std::string_view(record.created_at));
    w.member("source", std::string_view(record.source));
    w.member("from", source);
  });
}

/// Nothing for what is no record, or another source's.
std::optional<AdapterRecord> read_record(const std::string& directory, std::string_view source) {
  const auto text = files::read_file(directory + "/" + std::string(record_name), largest_record);
  json::Document document;
  if (!text || !json::parse(*text, document)) return std::nullopt;
  const json::Value* const root = &document.root;
  AdapterRecord out{.id = std::string(json::text(root, {"id"})),
                    .name = std::string(json::text(root, {"name"})),
                    .version = std::string(json::text(root, {"version"})),
                    .base_model = std::string(json::text(root, {"base_model"})),
                    .created_at = std::string(json::text(root, {"created_at"})),
                    .source = std::string(json::text(root, {"source"}))};
  if (json::text(root, {"from"}) != source || !is_adapter_id(out.id) || !is_adapter_name(out.name) ||
      !fs::path(directory).filename().string().starts_with(out.id + "~"))
    return std::nullopt;
  return out;
}

std::optional<FetchFailure> write_synced(const std::string& path, std::string_view text) {
  const files::File file(::open(path.c_str(), O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0644));
  if (!file) return system_failure("create " + path, errno);
  if (const int error = files::write_all(file.fd(), text)) return system_failure("write " + path, error);
  if (::fsync(file.fd()) != 0) return system_failure("sync " + path, errno);
  return std::nullopt;
}

}  // namespace

AdapterFiles::~AdapterFiles() {
  if (gone_) remove_directory(directory_);
}

std::expected<std::unique_ptr<AdapterCache>, std::string> AdapterCache::open(const std::string& data_dir,
                                                                             FailPoint fail_point) {
  std::string folder = data_dir + "/adapters";
  std::error_code error;
  fs::create_directories(folder, error);
  if (error) return std::unexpected(fmt::format("cannot make {}: {}", folder, error.message()));
  const std::string path = folder + "/.lock";
  files::File lock(::open(path.c_str(), O_RDWR | O_CREAT | O_CLOEXEC, 0644));
  if (!lock) return std::unexpected(fmt::format("cannot open {}: {}", path, std::strerror(errno)));
  if (::flock(lock.fd(), LOCK_EX | LOCK_NB) != 0)
    return std::unexpected(fmt::format("{} is in use: each server needs a --data-dir of its own", folder));
  return std::unique_ptr<AdapterCache>(new AdapterCache(std::move(folder), std::move(lock), std::move(fail_point)));
}

std::vector<CachedAdapter> AdapterCache::recover(std::string_view source) {
  std::vector<CachedAdapter> out;
  std::vector<std::string> rest;
  std::set<std::string> ids;
  std::error_code error;
  for (fs::directory_iterator at(folder_, error); !error && at != fs::directory_iterator(); at.increment(error)) {
    const std::string path = at->path().string();
    if (at->path().filename() == ".lock") continue;
    if (path.ends_with(part_ending)) {
      rest.push_back(path);
    } else if (auto record = read_record(path, source); record && ids.insert(record->id).second)
      out.push_back({std::move(*record), std::make_shared<AdapterFiles>(path)});
    else
      rest.push_back(path);
  }
  for (const std::string& each : rest) remove_directory(each);
  return out;
}

std::expected<std::string, FetchFailure> AdapterCache::begin(std::string_view id) {
  // Never a name of before: who reads an earlier directory of this id takes that one away when it is done.
  while (true) {
    const std::string path = fmt::format("{}/{}~{}", folder_, id, ++number_);
    std::string part = path + std::string(part_ending);
    std::error_code error;
    if (fs::exists(path, error) || fs::exists(part, error)) continue;
    fs::create_directory(part, error);
    if (error) return std::unexpected(system_failure("make " + part, error.value()));
    return part;
  }
}

std::expected<AdapterFilesPtr, FetchFailure> AdapterCache::publish(const std::string& part, const AdapterRecord& record,
                                                                   std::string_view source, bool keeps) {
  const std::string path = part.substr(0, part.size() - part_ending.size());
  reach("checked");
  if (keeps)
    if (auto failed = write_synced(fmt::format("{}/{}", part, record_name), write_record(record, source)))
      return std::unexpected(std::move(*failed));
  if (const int error = files::sync_directory(part)) return std::unexpected(system_failure("sync " + part, error));
  reach("synced");
  if (std::rename(part.c_str(), path.c_str()) != 0) return std::unexpected(system_failure("rename " + part, errno));
  reach("renamed");
  if (const int error = files::sync_directory(folder_))
    return std::unexpected(system_failure("sync " + folder_, error));
  return std::make_shared<AdapterFiles>(path);
}

void AdapterCache::abandon(const std::string& part) { remove_directory(part); }

void AdapterCache::drop(const AdapterFilesPtr& files) {
  const std::string record = fmt::format("{}/{}", files->directory(), record_name);
  ::unlink(record.c_str());
  (void)files::sync_directory(files->directory());
  reach("dropped");
  files->gone_ = true;
}

}  // namespace stackgate::inference
