#include <algorithm>
#include <chrono>

#include "services/datastore/git/maintenance.hpp"
#include "services/datastore/repositories/folders.hpp"
#include "services/datastore/repositories/rows.hpp"
#include "services/kit/base/time.hpp"
#include "services/kit/log/log.hpp"

namespace stackgate::datastore {
namespace {

constexpr std::chrono::hours orphan_age{1}, deleted_stay{1}, orphans_stay{7 * 24};

}  // namespace

Repositories::Expected<Repositories::Swept> Repositories::sweep() {
  Swept out;
  std::vector<folders::Found> candidates;
  std::int64_t highest = 0;
  folders::each(data_, [&](const folders::Found& found) {
    highest = std::max(highest, found.id.value_or(0));
    if (found.age > orphan_age) candidates.push_back(found);
    return true;
  });
  auto last = database_.run("SELECT last FROM repository_ids");
  if (!last) return std::unexpected(of_sql(last.error()));
  if (highest > last->rows.at(0).integer(0)) {
    log::error("a folder of a repository is newer than the database: nothing is swept",
               {{"folder", path(highest)}, {"cure", "restore the database that belongs to this volume"}});
    return std::unexpected(
        repository_error(ServiceFault::broken, "database and data directory do not belong together"));
  }
  for (const folders::Found& found : candidates) {
    if (found.id) {
      auto row = database_.run("SELECT 1 FROM repositories WHERE id = $1", {*found.id});
      if (!row) return std::unexpected(of_sql(row.error()));
      if (!row->rows.empty()) continue;
    }
    if (folders::orphan_to_trash(data_, found)) ++out.orphans;
  }
  out.trash = folders::empty_trash(data_, deleted_stay, orphans_stay);

  auto changed = database_.run("SELECT id FROM repositories WHERE measured_at IS NULL OR measured_at < updated_at");
  if (!changed) return std::unexpected(of_sql(changed.error()));
  for (const sql::Row& row : changed->rows) {
    const std::string time = to_rfc3339(std::chrono::system_clock::now());
    const auto size = git::disk_size(path(row.integer(0)));
    if (!size) continue;  // being deleted, or a matter for fsck
    auto noted = database_.run("UPDATE repositories SET size = $1, measured_at = $2 WHERE id = $3",
                               {static_cast<std::int64_t>(*size), time, row.integer(0)});
    if (!noted) return std::unexpected(of_sql(noted.error()));
    ++out.measured;
  }
  return out;
}

}  // namespace stackgate::datastore
