#include "services/datastore/lfs/locks.hpp"

#include <chrono>

#include <fmt/format.h>

#include "services/datastore/lfs/statements.hpp"
#include "services/kit/base/time.hpp"
#include "services/kit/base/try.hpp"
#include "services/kit/crypto/digest.hpp"
#include "services/kit/json/write.hpp"

namespace stackgate::datastore::lfs {

namespace {

constexpr std::string_view lock_columns = "id, path, ref, owner_id, owner_name, locked_at";

Lock to_lock(const sql::Row& row) {
  return {row.text(0), row.text(1), row.text(2), row.integer(3), row.text(4), row.text(5)};
}

/// Sorts by time, and two of one millisecond differ.
std::string new_lock_id() {
  const auto now = std::chrono::system_clock::now().time_since_epoch();
  return fmt::format("{:012x}{}", std::chrono::duration_cast<std::chrono::milliseconds>(now).count(),
                     crypto::random_hex(6));
}

}  // namespace

Expected<LockTaken> take_lock(sql::Database& database, const NewLock& wanted) {
  const std::string now = to_rfc3339(std::chrono::system_clock::now());
  // A lock that is dropped between the two statements: take it then.
  for (int attempt = 0; attempt < 5; ++attempt) {
    auto made = TRY(database.run(
        "INSERT INTO lfs_locks (id, repository_id, path, ref, owner_id, owner_name, locked_at) "
        "VALUES ($1, $2, $3, $4, $5, $6, $7) ON CONFLICT (repository_id, path) DO NOTHING "
        "RETURNING " +
            std::string(lock_columns),
        {new_lock_id(), wanted.repository, wanted.path, wanted.ref, wanted.owner, wanted.owner_name, now}));
    if (!made.rows.empty()) return LockTaken{to_lock(made.rows.front()), true};
    auto standing = TRY(list_locks(database, wanted.repository, {.path = wanted.path, .limit = 1}));
    if (!standing.locks.empty()) return LockTaken{standing.locks.front(), false};
  }
  return std::unexpected(ServiceError{ServiceFault::unavailable, "the lock changes hands too fast; try again"});
}

Expected<LockPage> list_locks(sql::Database& database, std::int64_t repository, const LockFilter& filter) {
  std::string statement =
      "SELECT " + std::string(lock_columns) + " FROM lfs_locks WHERE repository_id = $1 AND id > $2";
  std::vector<sql::Value> values = {repository, filter.cursor};
  const auto also = [&](std::string_view column, const std::string& value) {
    if (value.empty()) return;
    values.emplace_back(value);
    statement += fmt::format(" AND {} = ${}", column, values.size());
  };
  also("path", filter.path);
  also("id", filter.id);
  also("ref", filter.ref);
  values.emplace_back(static_cast<std::int64_t>(filter.limit + 1));
  statement += fmt::format(" ORDER BY id LIMIT ${}", values.size());
  auto rows = TRY(database.run(statement, values));
  LockPage out;
  for (const sql::Row& row : rows.rows) {
    if (out.locks.size() == filter.limit) {
      if (!out.locks.empty()) out.next = out.locks.back().id;
      break;
    }
    out.locks.push_back(to_lock(row));
  }
  return out;
}

Expected<std::optional<Lock>> find_lock(sql::Database& database, std::int64_t repository, std::string_view id) {
  auto page = TRY(list_locks(database, repository, {.id = std::string(id), .limit = 1}));
  if (page.locks.empty() || id.empty()) return std::nullopt;
  return page.locks.front();
}

Expected<bool> drop_lock(sql::Database& database, std::int64_t repository, std::string_view id) {
  auto gone =
      TRY(database.run("DELETE FROM lfs_locks WHERE repository_id = $1 AND id = $2", {repository, std::string(id)}));
  return gone.affected > 0;
}

std::string to_json(const Lock& lock) {
  return json::object_text([&](json::Writer& w) {
    w.member("id", lock.id);
    w.member("path", lock.path);
    w.member("locked_at", lock.locked_at);
    w.object("owner", [&] { w.member("name", lock.owner_name); });
  });
}

}  // namespace stackgate::datastore::lfs
