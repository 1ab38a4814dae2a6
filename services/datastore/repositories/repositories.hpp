// Records and folders of repositories. Thread-safe; calls block on the database and, where folders change, on the disk.
// Several replicas may work on one database and one volume: nothing is remembered between calls.
#pragma once
#include <cstdint>
#include <expected>
#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "services/datastore/accounts/identity.hpp"
#include "services/datastore/repositories/record.hpp"
#include "services/kit/base/service_error.hpp"
#include "services/kit/sql/database.hpp"

namespace stackgate::datastore {

struct NewRepository {
  std::int64_t owner_id = 0;
  std::string name{};
  std::optional<RepositoryType> type{};
  std::string description{};
  bool is_private = false;
  std::string default_branch = "main";
};

/// Members that are set are changed.
struct RepositoryChange {
  std::optional<std::string> name{};
  std::optional<std::int64_t> owner_id{};
  std::optional<std::string> description{};
  std::optional<bool> is_private{}, archived{};
  std::optional<std::string> default_branch{};  // the record only; git::set_default_branch moves HEAD
};

enum class RepositoryOrder : std::uint8_t { name, created, updated, size, id };

struct RepositoryFilter {
  std::string search{};                  // part of the name or of the description, without case
  std::string owner{};                   // exactly, without case
  std::optional<RepositoryType> type{};  // with `untyped_too`: or none
  bool untyped_too = true;
  std::optional<bool> is_private{}, archived{};
  RepositoryOrder order = RepositoryOrder::name;
  bool descending = false;
  std::size_t skip = 0, limit = 50;
};

struct RepositoryPage {
  std::vector<Repository> items;
  std::size_t total = 0;  // over all pages
};

class Repositories {
 public:
  template <typename T>
  using Expected = std::expected<T, ServiceError>;

  /// `data`: repositories lie in <data>/repositories, what was deleted in <data>/trash until swept.
  Repositories(sql::Database& database, std::string data);

  /// Without case, with or without ".git", through the names that it had before (compare full_name() to redirect).
  Expected<Repository> find(std::string_view owner, std::string_view name);
  Expected<Repository> find(std::int64_t id);
  /// Only what `viewer` may see.
  Expected<RepositoryPage> list(const Identity& viewer, const RepositoryFilter& filter);
  /// Every record in the order of ids, for sweeps and fsck; `visit` returns false to stop.
  Expected<void> each(const std::function<bool(const Repository&)>& visit);

  /// Folder and record, or neither: what a crash leaves of a folder is swept.
  Expected<Repository> create(const NewRepository& wanted);
  /// A rename or transfer keeps the former name as a redirect until somebody else takes it.
  Expected<Repository> update(std::int64_t id, const RepositoryChange& change);
  /// The record goes first, and with it what other tables say about it; then the folder, to the trash.
  Expected<void> remove(std::int64_t id);
  /// After a push or commit: updated_at. `size` in bytes when somebody has measured it.
  Expected<void> touch(std::int64_t id, std::optional<std::uint64_t> size = {});

  /// Where its objects lie; absolute if `data` was.
  std::string path(std::int64_t id) const;
  std::string path(const Repository& repository) const { return path(repository.id); }

  struct Swept {
    std::size_t orphans = 0, trash = 0, measured = 0;
  };
  /// Folders without a record go to the trash when they are older than an hour, and from there after a week; folders of
  /// deleted repositories after an hour; sizes of what changed are measured anew. Safe beside other replicas. A folder
  /// whose id this database never gave shows that database and volume do not belong together: nothing is swept then.
  Expected<Swept> sweep();

 private:
  sql::Database& database_;
  const std::string data_;
};

/// 1 to 100 of letters, digits, "-", "_", ".", not "." or "..", not ending in ".git", ".lock" or ".wiki", no word that
/// URLs use. Nothing, or what is wrong.
std::optional<std::string> fault_of_repository_name(std::string_view name);

}  // namespace stackgate::datastore
