#include <algorithm>
#include <chrono>

#include "services/datastore/git/maintenance.hpp"
#include "services/datastore/repositories/folders.hpp"
#include "services/datastore/repositories/rows.hpp"
#include "services/kit/base/time.hpp"
#include "services/kit/base/try.hpp"
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
  auto last = TRY(database_.run("SELECT last FROM repository_ids"));
  if (highest > last.rows.at(0).integer(0)) {
    log::error("a folder of a repository is newer than the database: nothing is swept",
               {{"folder", path(highest)}, {"cure", "restore the database that belongs to this volume"}});
    return refused(ServiceFault::broken, "database and data directory do not belong together");
  }
  for (const folders::Found& found : candidates) {
    if (found.id) {
      auto row = TRY(database_.run("SELECT 1 FROM repositories WHERE id = $1", {*found.id}));
      if (!row.rows.empty()) continue;
    }
    if (folders::orphan_to_trash(data_, found)) ++out.orphans;
  }
  out.trash = folders::empty_trash(data_, deleted_stay, orphans_stay);

  auto changed =
      TRY(database_.run("SELECT id FROM repositories WHERE measured_at IS NULL OR measured_at < updated_at"));
  for (const sql::Row& row : changed.rows) {
    const std::string time = to_rfc3339(std::chrono::system_clock::now());
    const auto size = git::disk_size(path(row.integer(0)));
    if (!size) continue;  // being deleted, or a matter for fsck
    (void)TRY(database_.run("UPDATE repositories SET size = $1, measured_at = $2 WHERE id = $3",
                            {static_cast<std::int64_t>(*size), time, row.integer(0)}));
    ++out.measured;
  }
  return out;
}

}  // namespace stackgate::datastore
