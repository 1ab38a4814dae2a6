// Quotas that hold when several upload at once: the sums are looked at in the transaction that adds to them.
#include "services/datastore/lfs/large_files.hpp"
#include "services/datastore/lfs/statements.hpp"
#include "services/kit/base/try.hpp"

namespace stackgate::datastore::lfs {

namespace {

struct LimitSum {
  std::uint64_t limit;
  std::string_view statement;  // one number; $1 and $2 are the repository where it is one repository's
  bool of_repository;
  std::string message;
};

}  // namespace

Expected<void> LargeFiles::link_within_limits(std::int64_t repository, std::string_view oid,
                                              const std::function<sql::Expected<void>(sql::Session&)>& work) {
  const LimitSum sums[] = {
      {limits_.repository,
       "SELECT (SELECT CAST(COALESCE(SUM(o.size), 0) AS BIGINT) FROM lfs_links l JOIN lfs_objects o ON o.oid = l.oid "
       "        WHERE l.repository_id = $1) + "
       "       (SELECT CAST(COALESCE(SUM(size), 0) AS BIGINT) FROM lfs_incoming WHERE repository_id = $2)",
       true,
       "the repository's quota for large files (" + std::to_string(limits_.repository) + " bytes) does not hold it"},
      {limits_.total,
       "SELECT (SELECT CAST(COALESCE(SUM(size), 0) AS BIGINT) FROM lfs_objects) + "
       "       (SELECT CAST(COALESCE(SUM(size), 0) AS BIGINT) FROM lfs_incoming)",
       false, "the server's quota for large files is used up"}};
  std::optional<std::string> over;
  auto done = database_.transact([&](sql::Session& session) -> sql::Expected<void> {
    over.reset();
    bool counted = limits_.repository == 0 && limits_.total == 0;
    if (!counted) {
      auto before =
          TRY(session.run("SELECT 1 FROM lfs_links WHERE repository_id = $1 AND oid = $2 UNION ALL "
                          "SELECT 1 FROM lfs_incoming WHERE repository_id = $3 AND oid = $4",
                          {repository, std::string(oid), repository, std::string(oid)}));
      counted = !before.rows.empty();
    }
    if (auto worked = work(session); !worked || counted) return worked;
    for (const LimitSum& sum : sums) {
      if (sum.limit == 0) continue;
      auto row =
          TRY(sum.of_repository ? session.run(sum.statement, {repository, repository}) : session.run(sum.statement));
      if (static_cast<std::uint64_t>(row.rows.at(0).integer(0)) <= sum.limit) continue;
      over = sum.message;
      return std::unexpected(sql::SqlError{.fault = sql::Fault::broken, .message = *over});
    }
    return {};
  });
  if (over) return std::unexpected(ServiceError{ServiceFault::quota, *over});
  if (!done) return std::unexpected(done.error());
  return {};
}

}  // namespace stackgate::datastore::lfs
