// File locks (https://github.com/git-lfs/git-lfs/blob/main/docs/api/locking.md) in the database. Thread-safe.
#pragma once
#include <cstdint>
#include <expected>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "services/datastore/lfs/large_files.hpp"
#include "services/kit/sql/database.hpp"

namespace stackgate::datastore::lfs {

struct Lock {
  bool operator==(const Lock&) const = default;
  std::string id;  // increases with time
  std::string path, ref;
  std::int64_t owner = 0;
  std::string owner_name;
  std::string locked_at;  // RFC 3339, UTC
};

struct LockFilter {
  std::string path{}, id{}, ref{};  // empty: any
  std::string cursor{};             // what Page::next said
  std::size_t limit = 100;
};

struct LockPage {
  std::vector<Lock> locks;
  std::string next{};  // empty: that was all
};

struct NewLock {
  std::int64_t repository = 0, owner = 0;
  std::string path, ref, owner_name;
};

struct LockTaken {
  Lock lock;
  bool fresh = true;  // false: it stood already, whoever's it is
};

Expected<LockTaken> take_lock(sql::Database& database, const NewLock& wanted);
Expected<LockPage> list_locks(sql::Database& database, std::int64_t repository, const LockFilter& filter);
Expected<std::optional<Lock>> find_lock(sql::Database& database, std::int64_t repository, std::string_view id);
/// False: it was gone already.
Expected<bool> drop_lock(sql::Database& database, std::int64_t repository, std::string_view id);

/// `{"id","path","locked_at","owner":{"name"}}`
std::string to_json(const Lock& lock);

}  // namespace stackgate::datastore::lfs
