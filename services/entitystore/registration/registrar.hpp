// Brings adapters into the datastore and out of it again. README.md has the states; every step may be repeated, and
// whatever a crash leaves behind is finished or undone by sweep(). Thread-safe; calls block.
#pragma once
#include <atomic>
#include <chrono>
#include <cstdint>
#include <expected>
#include <functional>
#include <mutex>
#include <set>
#include <stop_token>
#include <string>
#include <string_view>
#include <vector>

#include "services/entitystore/adapters/catalogue.hpp"
#include "services/entitystore/adapters/rows.hpp"
#include "services/entitystore/registration/inspect.hpp"
#include "services/entitystore/registration/intake.hpp"
#include "services/kit/datastore_client/datastore.hpp"
#include "services/kit/web/answer.hpp"

namespace stackgate::entitystore {

using datastore_client::Datastore, datastore_client::DatastoreError, datastore_client::DatastoreOptions,
    datastore_client::FromDatastore, datastore_client::LargeFile;
namespace wire = datastore_client::wire;

/// Called at each point of a registration (README.md), so that tests can stop it dead there; empty in production.
using FailPoint = std::function<void(std::string_view point)>;

struct RegistrarOptions {
  bool approval = false;           // pending first, ready by PATCH
  std::string owner = "adapters";  // of the repositories
  InspectLimits inspect{};
  std::int64_t lease_seconds = 60;
  FailPoint fail{};
};

class Registrar {
 public:
  Registrar(sql::Database& database, Catalogue& catalogue, Datastore& datastore, const Spool& spool,
            RegistrarOptions options);

  /// From a judged upload in the spool to a record that is ready or pending. The spool is empty afterwards.
  /// Failures: 409 for a version that exists, 502 and 503 for the datastore and the database. `silence`: the datastore
  /// was just asked something and did not answer; it is not asked again while the caller waits.
  std::expected<Record, web::Failure> enter(Record record, const Intake::Outcome& upload,
                                            const std::optional<DatastoreError>& silence = {});

  /// Uploads that a crash interrupted, here or on a replica that is gone; remains of failed and deleted versions;
  /// forgotten folders of the spool. Returns when `stop` is set.
  void sweep(const std::stop_token& stop);
  /// An id that is being received: its spool folder is none of sweep()'s business.
  void hold(const std::string& id);
  void release(const std::string& id);

  const RegistrarOptions& options() const { return options_; }

 private:
  /// Why a registration does not go on. TRY() passes on what database and datastore say.
  struct Problem {
    enum class Kind { database, datastore, withdrawn } kind;
    web::Failure failure;
    bool silent = false;  // the datastore gave no answer: asking for more only makes the caller wait longer
    Problem(Kind what, web::Failure why) : kind(what), failure(std::move(why)) {}
    Problem(const sql::SqlError& error);
    Problem(const DatastoreError& error);
  };
  template <typename T>
  using Maybe = std::expected<T, Problem>;

  Maybe<void> upload_files(Record& record, const Inspected& inspected, const std::string& archive_sha256);
  Maybe<void> commit(Record& record, const Inspected& inspected);
  Maybe<void> note(Record& record, std::string_view step);
  Maybe<void> finish(Record& record);
  /// The repository is there and this database's; made and marked if it is not there. 409: it is somebody else's.
  Maybe<void> claim(const std::string& repository);
  enum class Whose : std::uint8_t { nobodys, ours, others };
  struct Belongs {
    Whose whose = Whose::nobodys;
    bool marked = false;
    std::string other;  // the database that it is marked with, when that is not ours
  };
  Maybe<Belongs> whose(const std::string& repository);
  /// Runs `work` while no other worker of any replica is at the repository.
  Maybe<void> with_lease(std::string_view repository, const std::function<Maybe<void>()>& work);
  /// Gives back the leases that may have been taken, or not given back, by statements whose answers never came.
  void release_unconfirmed();
  web::Failure give_up(const Record& record, Problem problem);

  void resume(const Work& work);
  Maybe<void> resume_without_upload(Record& record);
  Maybe<void> purge(const Work& work);
  void empty_spool();
  bool is_held(const std::string& id);
  void point(std::string_view name) const {
    if (options_.fail) options_.fail(name);
  }

  sql::Database& database_;
  Catalogue& catalogue_;
  Datastore& datastore_;
  const Spool& spool_;
  RegistrarOptions options_;
  Lease lease_;
  SharedSetting database_id_{database_, "database-id", 16};
  std::mutex mutex_;
  std::multiset<std::string> held_;
  struct UnconfirmedLease {
    std::string repository;
    Lease lease;
    std::chrono::steady_clock::time_point until;  // then it has run out by itself
  };
  std::vector<UnconfirmedLease> unconfirmed_;
  std::atomic<std::uint64_t> pieces_{0};  // of work done with a lease
  bool forgotten_ = false;                // leases of this instance from before a crash
};

/// 503 with Retry-After for a database that is away, 507 for one without space, 500 for anything else.
web::Failure database_failure(const sql::SqlError& error);
/// The title of the commit of a version, which no other has.
std::string commit_title(const Record& record);

// --- Whose a repository is (claim.cpp) ---

/// A repository's description says which database its records lie in. `database`: 32 hexadecimal digits.
std::string mark_of(std::string_view database);
/// The database that a description names; empty for a description without a mark.
std::string marked_database(std::string_view description);
/// 409. `other`: the database that the repository is marked with, empty without a mark.
web::Failure not_ours(std::string_view repository, std::string_view other);

}  // namespace stackgate::entitystore
