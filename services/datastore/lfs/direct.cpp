// Uploads that went straight to S3: counted first, hashed later.
#include <algorithm>
#include <array>

#include <fmt/format.h>

#include "services/datastore/clock.hpp"
#include "services/datastore/lfs/large_files.hpp"
#include "services/datastore/lfs/statements.hpp"
#include "services/kit/base/try.hpp"
#include "services/kit/log/log.hpp"
#include "services/kit/sql/database.hpp"

namespace stackgate::datastore::lfs {

Expected<void> LargeFiles::confirm(std::int64_t repository, std::string_view oid, std::uint64_t size) {
  const std::array one{std::string(oid)};
  const auto known = TRY(look_up(repository, one));
  const auto differs = [&](std::uint64_t stored) {
    return std::unexpected(ServiceError{
        ServiceFault::invalid,
        "large file " + std::string(oid) + " has " + std::to_string(stored) + " bytes, not " + std::to_string(size)});
  };
  if (!known.empty() && known.front().linked) {
    if (known.front().stat.size != size) return differs(known.front().stat.size);
    return touch(repository, known);  // a commit is about to name it: collect() must not take it now
  }
  const ServiceError missing{ServiceFault::missing, "large file " + std::string(oid) + " has not been uploaded"};
  if (!is_oid(oid)) return std::unexpected(missing);
  const std::string key = incoming_key(repository, oid);
  const auto there = store_.stat(key);
  if (!there) {
    if (there.error().fault == objects::Fault::missing) return std::unexpected(missing);
    return std::unexpected(there.error());
  }
  if (there->size != size) {
    (void)store_.remove(key);
    return differs(there->size);
  }
  if (auto fits = admit(repository, size, size); !fits) return fits;
  return link_within_limits(repository, oid, [&](sql::Session& session) -> sql::Expected<void> {
    TRY(session.run(
        "INSERT INTO lfs_incoming (repository_id, oid, size, touched_at, claimed_until, attempts) "
        "VALUES ($1, $2, $3, $4, 0, 0) ON CONFLICT (repository_id, oid) DO UPDATE SET touched_at = excluded.touched_at",
        {repository, std::string(oid), static_cast<std::int64_t>(size), seconds_now()}));
    return {};
  });
}

Expected<void> LargeFiles::drop_incoming(std::int64_t repository, std::string_view oid) {
  (void)TRY(
      database_.run("DELETE FROM lfs_incoming WHERE repository_id = $1 AND oid = $2", {repository, std::string(oid)}));
  TRY(store_.remove(incoming_key(repository, oid)));
  return {};
}

Expected<bool> LargeFiles::promote(std::chrono::seconds claim) {
  const std::string_view now = sql::now_seconds(database_.engine());
  auto next = TRY(database_.run(
      fmt::format("SELECT repository_id, oid, size, claimed_until, attempts FROM lfs_incoming WHERE claimed_until < {} "
                  "ORDER BY claimed_until, touched_at LIMIT 1",
                  now)));
  if (next.rows.empty()) return false;
  const sql::Row row = next.rows.front();
  const std::int64_t repository = row.integer(0);
  const std::string oid = row.text(1);
  const auto size = static_cast<std::uint64_t>(row.integer(2));
  auto mine = TRY(database_.run(fmt::format("UPDATE lfs_incoming SET claimed_until = {} + $1, attempts = attempts + 1 "
                                            "WHERE repository_id = $2 AND oid = $3 AND claimed_until = $4",
                                            now),
                                {std::int64_t{claim.count()}, repository, oid, row.integer(3)}));
  if (mine.affected != 1) return true;  // another replica was faster

  auto file = store_.open(incoming_key(repository, oid));
  Expected<void> moved;
  if (file) {
    moved = receive(repository, oid, size, from(**file));
  } else {
    moved = std::unexpected(file.error());
  }
  if (moved) {
    if (auto removed = store_.remove(incoming_key(repository, oid)); !removed) log_cause(removed.error().message);
    return true;
  }
  if (moved.error().fault == ServiceFault::invalid || moved.error().fault == ServiceFault::missing) {
    log::warning("a direct upload was not what it claimed and is dropped",
                 {{"repository", repository}, {"oid", oid}, {"problem", moved.error().message}});
    TRY(drop_incoming(repository, oid));
    return true;
  }
  // Later again, each time a little later.
  const std::int64_t pause = std::min<std::int64_t>(3600, 5 * (row.integer(4) + 1));
  (void)database_.run(
      fmt::format("UPDATE lfs_incoming SET claimed_until = {} + $1 WHERE repository_id = $2 AND oid = $3", now),
      {pause, repository, oid});
  return std::unexpected(moved.error());
}

}  // namespace stackgate::datastore::lfs
