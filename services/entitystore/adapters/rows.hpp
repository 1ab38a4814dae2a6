// Records to rows and back, and every statement that changes one. Each change moves the change counter in the same
// transaction; see catalogue.hpp.
#pragma once
#include <cstdint>
#include <mutex>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "services/entitystore/adapters/record.hpp"
#include "services/kit/sql/database.hpp"
#include "services/kit/sql/migrate.hpp"

namespace stackgate::entitystore {

/// Rows with changed > from, tombstones among them; all living ones for from < 0.
sql::Expected<std::vector<Record>> read_changed(sql::Database& database, std::int64_t from);

struct Lease {
  std::string owner;
  std::int64_t seconds = 60;
};

/// What is known of a row whose files are on their way, or on their way out.
struct Work {
  Record record;
  std::string step, owner;
  std::int64_t lease_until = 0;
};

struct Inserted {
  enum class Outcome : std::uint8_t { inserted, exists } outcome = Outcome::inserted;
  Record other{};  // exists: the one in the way
};

/// The row, its files and its provenance, as `uploading`. A failed version in the way becomes a tombstone first.
sql::Expected<Inserted> insert_adapter(sql::Database& database, const Record& record,
                                       const std::vector<StoredFile>& files, const Lease& lease);

sql::Expected<std::optional<Work>> read_work(sql::Database& database, std::string_view id);
/// Every `uploading` row.
sql::Expected<std::vector<Work>> read_uploading(sql::Database& database);
/// Failed and deleted rows of which something may be left in the datastore.
sql::Expected<std::vector<Work>> read_unpurged(sql::Database& database);
sql::Expected<std::vector<StoredFile>> read_files(sql::Database& database, std::string_view id);

/// Notes the step and the commit and renews the lease. False: the row is no longer ours, or no longer uploading.
sql::Expected<bool> note_step(sql::Database& database, std::string_view id, std::string_view step,
                              std::string_view commit, const Lease& lease);
/// Records that its owner is still at work. A row that is no longer ours is let be.
sql::Expected<void> renew_lease(sql::Database& database, std::string_view id, const Lease& lease);
/// Takes a row whose lease has run out. False: somebody else was faster.
sql::Expected<bool> take_over(sql::Database& database, const Work& work, const Lease& lease);

/// False when the row was not in `from` any more, or is deleted.
sql::Expected<bool> move_status(sql::Database& database, std::string_view id, Status from, Status to,
                                std::string_view reason);
/// False when there is no such row, or it is a tombstone already.
sql::Expected<bool> mark_deleted(sql::Database& database, std::string_view id);
sql::Expected<void> set_purged(sql::Database& database, std::string_view id);

/// Living rows of the repository that are not failed, other than `id`: does anybody need it, and this version's tag?
struct Usage {
  bool repository = false, version = false;
};
sql::Expected<Usage> usage_of(sql::Database& database, const Record& record);

/// One worker at a time for each repository, over all replicas. False: another one has it.
sql::Expected<bool> lease_repository(sql::Database& database, std::string_view repository, const Lease& lease);
sql::Expected<void> release_repository(sql::Database& database, std::string_view repository, const Lease& lease);

/// Those of every owner that begins with `prefix`, and those that have run out.
sql::Expected<void> forget_leases(sql::Database& database, std::string_view prefix);

/// Repositories that this database's service made, or is about to make.
sql::Expected<void> note_made(sql::Database& database, std::string_view repository);
sql::Expected<void> forget_made(sql::Database& database, std::string_view repository);
/// Noted as made, or a version that is not removed yet lies in it.
sql::Expected<bool> is_known(sql::Database& database, std::string_view repository);

/// The value, if somebody has asked for it before.
sql::Expected<std::optional<std::string>> find_setting(sql::Database& database, std::string_view name);
/// A value that all replicas share, made once: the first one to ask decides.
sql::Expected<std::string> shared_setting(sql::Database& database, std::string_view name, std::string_view proposal);

/// One of random digits, asked for when it is first needed. Thread-safe.
class SharedSetting {
 public:
  SharedSetting(sql::Database& database, std::string_view name, std::size_t bytes)
      : database_(database), name_(name), bytes_(bytes) {}
  sql::Expected<std::string> get();

 private:
  sql::Database& database_;
  const std::string_view name_;
  const std::size_t bytes_;
  std::mutex mutex_;
  std::string value_;
};

/// The tables, as migrations (tables.cpp).
std::span<const sql::Migration> migrations();

}  // namespace stackgate::entitystore
