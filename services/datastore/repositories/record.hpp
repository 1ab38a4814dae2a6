// A repository as the database knows it.
#pragma once
#include <cstdint>
#include <optional>
#include <string>

namespace stackgate::datastore {

/// Hugging Face has three name spaces, Git has one: owner/name is unique over all of them. A repository without a type
/// (made by Git or the Gitea API) answers under any, a typed one only under its own.
enum class RepositoryType : std::uint8_t { model, dataset, space };

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
