// A repository as the database knows it.
#pragma once
#include <array>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

namespace stackgate::datastore {

/// Hugging Face has three name spaces, Git has one: owner/name is unique over all of them. A repository without a type
/// (made by Git or the Gitea API) answers under any, a typed one only under its own.
enum class RepositoryType : std::uint8_t { model, dataset, space };
inline constexpr std::array<std::string_view, 3> repository_types = {"model", "dataset", "space"};

inline std::string_view to_word(RepositoryType type) { return repository_types[static_cast<std::size_t>(type)]; }
/// Nothing for another word.
inline std::optional<RepositoryType> parse_type(std::string_view word) {
  for (std::size_t i = 0; i < repository_types.size(); ++i)
    if (repository_types[i] == word) return static_cast<RepositoryType>(i);
  return std::nullopt;
}

struct Repository {
  std::int64_t id = 0;  // names its folder; never used again
  std::int64_t owner_id = 0;
  std::int64_t steward_id = 0;  // of an owner that is an organisation: who may write in it
  std::string owner{}, name{};  // as they were spelt; compared without case
  std::optional<RepositoryType> type{};
  std::string description{};
  bool is_private = true;
  bool archived = false;
  std::string default_branch = "main";
  std::uint64_t size = 0;                  // bytes on disk when last measured
  std::string created_at{}, updated_at{};  // RFC 3339, UTC

  std::string full_name() const { return owner + "/" + name; }
};

}  // namespace stackgate::datastore
