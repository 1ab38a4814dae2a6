#include "services/evaluator/retrieval/directory_room.hpp"

#include <algorithm>
#include <filesystem>
#include <system_error>
#include <vector>

namespace stackgate::evaluator {

namespace fs = std::filesystem;

void make_room(const std::string& directory, std::uint64_t bytes, std::string_view but) {
  struct Found {
    fs::file_time_type when;
    std::uint64_t size;
    fs::path path;
  };
  std::error_code error;
  std::vector<Found> found;
  std::uint64_t sum = 0;
  for (fs::directory_iterator at(directory, error), end; !error && at != end; at.increment(error)) {
    std::error_code one;
    if (!at->is_regular_file(one) || at->is_symlink(one)) continue;
    const std::uint64_t size = at->file_size(one);
    const auto when = at->last_write_time(one);
    if (one) continue;
    sum += size;
    if (!at->path().filename().string().starts_with(but)) found.push_back({when, size, at->path()});
  }
  std::ranges::sort(found, {}, &Found::when);
  for (const Found& each : found) {
    if (sum <= bytes) return;
    if (fs::remove(each.path, error)) sum -= each.size;
  }
}

void mark_used(const std::string& path) {
  std::error_code ignored;
  fs::last_write_time(path, fs::file_time_type::clock::now(), ignored);
}

}  // namespace stackgate::evaluator
