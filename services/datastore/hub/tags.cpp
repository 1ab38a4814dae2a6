#include "services/datastore/hub/tags.hpp"

#include <mutex>
#include <unordered_map>

#include "services/datastore/hub/card.hpp"

namespace stackgate::datastore::hub {
namespace tags_detail {

constexpr std::size_t largest_readme = std::size_t{1} << 20U, most_remembered = 10'000;

/// By content, so nothing in it ever grows old.
struct Memory {
  std::mutex mutex;
  std::unordered_map<std::string, Tags> tags;
};

Memory& memory() {
  static Memory one;
  return one;
}

}  // namespace tags_detail

Tags tags_at(git::Repository& git, const git::Oid& commit, RepositoryType type) {
  static const Tags none = std::make_shared<const std::vector<std::string>>();
  if (commit.empty()) return none;
  const auto entry = git.entry(commit, "README.md");
  if (!entry || (entry->kind != git::EntryKind::file && entry->kind != git::EntryKind::executable)) return none;
  const std::string key = entry->oid + (type == RepositoryType::model ? "m" : "d");
  tags_detail::Memory& memory = tags_detail::memory();
  {
    const std::lock_guard lock(memory.mutex);
    if (const auto found = memory.tags.find(key); found != memory.tags.end()) return found->second;
  }
  const auto text = git.blob(entry->oid, tags_detail::largest_readme);
  if (!text) return none;
  auto tags = std::make_shared<const std::vector<std::string>>(tags_of(*text, type));
  const std::lock_guard lock(memory.mutex);
  if (memory.tags.size() >= tags_detail::most_remembered) memory.tags.clear();
  memory.tags[key] = tags;
  return tags;
}

}  // namespace stackgate::datastore::hub
