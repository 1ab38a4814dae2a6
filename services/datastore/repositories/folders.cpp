#include "services/datastore/repositories/folders.hpp"

#include <filesystem>
#include <system_error>

#include <fmt/format.h>

#include "services/datastore/clock.hpp"
#include "services/datastore/repositories/rows.hpp"
#include "services/kit/base/number.hpp"
#include "services/kit/base/out_of_space.hpp"
#include "services/kit/log/log.hpp"

namespace stackgate::datastore::folders {
namespace {

namespace fs = std::filesystem;

/// From 1.
std::optional<std::int64_t> number(std::string_view text) {
  const auto out = to_number<std::int64_t>(text);
  return out && *out > 0 ? out : std::nullopt;
}

bool move_away(std::string_view data, const std::string& from, std::string_view word, std::string_view name) {
  std::error_code error;
  const fs::path trash = fs::path(data) / "trash";
  fs::create_directories(trash, error);
  if (!error) fs::rename(from, trash / fmt::format("{}-{}-{}", word, seconds_now(), name), error);
  if (!error) return true;
  if (error != std::errc::no_such_file_or_directory)
    log::error("a folder cannot be moved to the trash", {{"folder", from}, {"cause", error.message()}});
  return false;
}

}  // namespace

std::string path_of(std::string_view data, std::int64_t id) {
  return fmt::format("{}/repositories/{}/{}.git", data, id / 1000, id);
}

std::expected<void, ServiceError> make_parent(std::string_view data, std::int64_t id) {
  std::error_code error;
  fs::create_directories(fs::path(path_of(data, id)).parent_path(), error);
  if (!error) return {};
  log::error("a folder cannot be made", {{"folder", path_of(data, id)}, {"cause", error.message()}});
  if (is_out_of_space(error.value())) return refused(ServiceFault::full, "no space is left on the data volume");
  return refused(ServiceFault::broken, "the repository's folder cannot be made; the server's log says why");
}

void to_trash(std::string_view data, std::int64_t id) {
  move_away(data, path_of(data, id), "deleted", fmt::format("{}.git", id));
}

bool orphan_to_trash(std::string_view data, const Found& found) {
  return move_away(data, found.path, "orphan", fs::path(found.path).filename().string());
}

void each(std::string_view data, const std::function<bool(const Found&)>& visit) {
  std::error_code error;
  const auto now = fs::file_time_type::clock::now();
  for (fs::directory_iterator outer(fs::path(data) / "repositories", error), end; !error && outer != end;
       outer.increment(error)) {
    std::error_code inner_error;
    for (fs::directory_iterator inner(outer->path(), inner_error), last; !inner_error && inner != last;
         inner.increment(inner_error)) {
      Found found{.path = inner->path().string(), .id = std::nullopt};
      const std::string name = inner->path().filename().string();
      if (name.ends_with(".git")) found.id = number(std::string_view(name).substr(0, name.size() - 4));
      if (found.id && path_of(data, *found.id) != found.path) found.id.reset();
      std::error_code gone;
      const auto changed = inner->last_write_time(gone);
      if (gone) continue;
      found.age = std::chrono::duration_cast<std::chrono::seconds>(now - changed);
      if (!visit(found)) return;
    }
  }
}

std::size_t empty_trash(std::string_view data, std::chrono::seconds deleted, std::chrono::seconds orphans) {
  std::size_t count = 0;
  std::error_code error;
  for (fs::directory_iterator at(fs::path(data) / "trash", error), end; !error && at != end; at.increment(error)) {
    const std::string name = at->path().filename().string();
    const bool orphan = name.starts_with("orphan-");
    if (!orphan && !name.starts_with("deleted-")) continue;
    const auto begin = name.find('-') + 1;
    const auto since = number(std::string_view(name).substr(begin, name.find('-', begin) - begin));
    if (!since || seconds_now() - *since < (orphan ? orphans : deleted).count()) continue;
    std::error_code failed;
    fs::remove_all(at->path(), failed);
    if (failed)
      log::warning("trash cannot be deleted", {{"folder", name}, {"cause", failed.message()}});
    else
      ++count;
  }
  return count;
}

}  // namespace stackgate::datastore::folders
