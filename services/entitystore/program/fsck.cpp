// Database against datastore: every adapter that can be served has its commit, its tag and its files, nothing is left
// of those that are gone, and the repositories are marked for the database that has records of them. Changes nothing:
// the sweep does.
#include <algorithm>
#include <set>

#include <fmt/format.h>

#include "services/entitystore/adapters/names.hpp"
#include "services/entitystore/adapters/rows.hpp"
#include "services/entitystore/program/program.hpp"
#include "services/entitystore/registration/registrar.hpp"
#include "services/kit/base/ascii.hpp"
#include "services/kit/base/try.hpp"

namespace stackgate::entitystore {
namespace fsck_detail {

class Checker {
 public:
  Checker(sql::Database& database, Datastore& datastore, const std::string& owner)
      : database_(database), datastore_(datastore), owner_(owner) {}

  /// Database or datastore cannot be asked.
  struct Unasked {
    std::string why;
    Unasked(const sql::SqlError& error) : why(error.message) {}
    Unasked(const DatastoreError& error) : why(error.message) {}
  };
  template <typename T>
  using Maybe = std::expected<T, Unasked>;

  /// The number of faults.
  Maybe<std::size_t> run() {
    const auto living = TRY(read_changed(database_, -1));
    for (const Record& record : living) {
      if (record.status == Status::ready || record.status == Status::pending)
        TRY(served(record));
      else if (record.status == Status::uploading)
        fmt::print("{} {} {}: is being uploaded\n", record.id, record.name, record.version);
    }
    for (const Work& work : TRY(read_unpurged(database_)))
      (void)fault(work.record, work.record.deleted_at.empty() ? "failed, and its remains were not removed yet"
                                                              : "was deleted, and its files were not removed yet");
    TRY(marks(living));
    fmt::print("{} adapters, {} faults\n", living.size(), faults_);
    return faults_;
  }

 private:
  Maybe<void> fault(const Record& record, std::string_view what) {
    ++faults_;
    fmt::print("{} {} {}: {}\n", record.id, record.name, record.version, what);
    return {};
  }

  Maybe<void> served(const Record& record) {
    const auto refs = TRY(datastore_.refs(record.repository));
    if (!refs) return fault(record, fmt::format("its repository {} is missing", record.repository));
    const auto tag = refs->tags.find(tag_of(record.version));
    if (tag == refs->tags.end()) return fault(record, fmt::format("the tag {} is missing", tag_of(record.version)));
    if (tag->second != record.commit)
      return fault(record, fmt::format("the tag {} is at {}, not at {}", tag->first, tag->second, record.commit));
    const auto want = TRY(read_files(database_, record.id));
    const auto have = TRY(datastore_.files_at(record.repository, record.commit));
    for (const StoredFile& file : want) {
      const auto found = std::ranges::find(have, file.path, &wire::TreeFile::path);
      if (found == have.end())
        (void)fault(record, fmt::format("{} is missing", file.path));
      else if (found->size != file.size || (file.large && found->sha256 != file.sha256))
        (void)fault(record, fmt::format("{} is another file than the one that was uploaded", file.path));
    }
    return {};
  }

  /// Whose the repositories say that they are.
  Maybe<void> marks(const std::vector<Record>& living) {
    const auto id = TRY(find_setting(database_, "database-id"));
    auto found = TRY(datastore_.repositories_of(owner_));
    // Of another owner, from before --datastore-owner was changed.
    std::set<std::string> seen;
    for (const wire::Described& each : found) seen.insert(ascii::to_lower(each.name));
    for (const Record& record : living) {
      const bool there = record.status == Status::ready || record.status == Status::pending;
      if (!there || !seen.insert(ascii::to_lower(record.repository)).second) continue;
      if (auto text = TRY(datastore_.description(record.repository)))
        found.push_back({record.repository, *std::move(text)});
    }
    for (const wire::Described& each : found)
      mark(each.name, marked_database(each.description), id.value_or(""), TRY(is_known(database_, each.name)));
    return {};
  }

  void mark(const std::string& repository, const std::string& marked, const std::string& ours, bool known) {
    if (known && marked.empty()) {
      fmt::print("{}: bears no mark of a database yet; the next upload sets it\n", repository);
    } else if (known && marked != ours) {
      ++faults_;
      fmt::print(
          "{}: is marked for the database {}, and this one ({}) has records of it: one of the two is a copy, or was "
          "restored; uploads get 409. Give each entitystore a --datastore-owner and a database of its own\n",
          repository, marked, ours.empty() ? "without an id" : ours);
    } else if (!known && !marked.empty() && marked == ours) {
      ++faults_;
      fmt::print("{}: is marked for this database, which has no record of it; delete it if nobody needs its files\n",
                 repository);
    } else if (!known && !marked.empty()) {
      fmt::print("{}: belongs to the entitystore with the database {}\n", repository, marked);
    }
  }

  sql::Database& database_;
  Datastore& datastore_;
  const std::string& owner_;
  std::size_t faults_ = 0;
};

}  // namespace fsck_detail

int fsck(sql::Database& database, Datastore& datastore, const std::string& owner) {
  const auto faults = fsck_detail::Checker(database, datastore, owner).run();
  if (!faults) return failed(faults.error().why);
  return *faults == 0 ? 0 : 1;
}

}  // namespace stackgate::entitystore
