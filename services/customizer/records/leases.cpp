// Which replica steps which customization.
#include <fmt/format.h>

#include "services/customizer/records/records.hpp"
#include "services/kit/base/try.hpp"

namespace stackgate::customizer {
namespace leases_detail {

std::vector<std::string> ids_of(const sql::Result& result) {
  std::vector<std::string> out;
  out.reserve(result.rows.size());
  for (const sql::Row& row : result.rows) out.push_back(row.text(0));
  return out;
}

}  // namespace leases_detail

using namespace leases_detail;

sql::Expected<std::vector<std::string>> Records::claim(std::string_view owner, std::chrono::seconds lease,
                                                       std::int64_t limit) const {
  const std::string_view now = sql::now_seconds(database_.engine());
  // Mostly there is nothing to claim: to see that, nothing is locked.
  const std::string free_ones = fmt::format(
      "SELECT id FROM customization WHERE settled = 0 AND owner <> $1 AND (owner = '' OR lease_until < {}) "
      "ORDER BY number LIMIT $2",
      now);
  if (TRY(database_.run(free_ones, {std::string(owner), limit})).rows.empty()) return std::vector<std::string>();
  std::vector<std::string> out;
  TRY(database_.transact([&](sql::Session& session) -> sql::Expected<void> {
    out = ids_of(TRY(session.run(
        fmt::format(
            "UPDATE customization SET owner = $1, lease_until = {} + $3, woken = 0 WHERE id IN ({}) RETURNING id", now,
            free_ones),
        {std::string(owner), limit, std::int64_t{lease.count()}})));
    return {};
  }));
  return out;
}

sql::Expected<std::vector<std::string>> Records::waiting_without_reason(std::string_view owner,
                                                                        std::int64_t limit) const {
  const std::string_view now = sql::now_seconds(database_.engine());
  return ids_of(TRY(database_.run(
      fmt::format("SELECT id FROM customization WHERE settled = 0 AND state IN ('created', 'pending') AND message = '' "
                  "AND changed_at < {0} - $3 AND (owner = $1 OR owner = '' OR lease_until < {0}) ORDER BY number LIMIT "
                  "$2",
                  now),
      {std::string(owner), limit, std::int64_t{1}})));
}

sql::Expected<std::vector<std::string>> Records::renew(std::string_view owner, std::chrono::seconds lease) const {
  return ids_of(TRY(database_.run(
      fmt::format("UPDATE customization SET lease_until = {} + $2 WHERE settled = 0 AND owner = $1 RETURNING id",
                  sql::now_seconds(database_.engine())),
      {std::string(owner), std::int64_t{lease.count()}})));
}

sql::Expected<void> Records::release(std::string_view owner) const {
  TRY(database_.run("UPDATE customization SET owner = '' WHERE settled = 0 AND owner = $1", {std::string(owner)}));
  return {};
}

sql::Expected<std::vector<std::string>> Records::take_woken(std::string_view owner) const {
  if (TRY(database_.run("SELECT id FROM customization WHERE settled = 0 AND owner = $1 AND woken = 1 LIMIT 1",
                        {std::string(owner)}))
          .rows.empty())
    return std::vector<std::string>();
  return ids_of(TRY(
      database_.run("UPDATE customization SET woken = 0 WHERE settled = 0 AND owner = $1 AND woken = 1 RETURNING id",
                    {std::string(owner)})));
}

sql::Expected<void> Records::wake(std::string_view id) const {
  TRY(database_.run("UPDATE customization SET woken = 1 WHERE id = $1", {std::string(id)}));
  return {};
}

}  // namespace stackgate::customizer
