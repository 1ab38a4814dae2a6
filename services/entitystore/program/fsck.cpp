// Database against datastore: every adapter that can be served has its commit, its tag and its files, nothing is left
// of those that are gone, and the repositories are marked for the database that has records of them. Changes nothing:
// the sweep does.
#include <algorithm>
#include <cstdio>
#include <set>

#include <fmt/format.h>

#include "services/entitystore/adapters/names.hpp"
#include "services/entitystore/adapters/rows.hpp"
#include "services/entitystore/program/program.hpp"
#include "services/entitystore/registration/claim.hpp"
#include "services/entitystore/registration/registrar.hpp"
#include "services/kit/base/ascii.hpp"

namespace stackgate::entitystore {
namespace fsck_detail {

class Checker {
 public:
  Checker(sql::Database& database, Datastore& datastore, const std::string& owner)
      : database_(database), datastore_(datastore), owner_(owner) {}

  int run() {
    const auto living = read_changed(database_, -1);
    if (!living) return fail(living.error().message);
    for (const Record& record : *living) {
      if (record.status == Status::ready || record.status == Status::pending) {
        if (!served(record)) return 1;
      } else if (record.status == Status::uploading) {
        fmt::print("{} {} {}: is being uploaded\n", record.id, record.name, record.version);
      }
    }
    const auto remains = read_unpurged(database_);
    if (!remains) return fail(remains.error().message);
    for (const Work& work : *remains)
      fault(work.record, work.record.deleted_at.empty() ? "failed, and its remains were not removed yet"
                                                        : "was deleted, and its files were not removed yet");
    if (!marks(*living)) return 1;
    fmt::print("{} adapters, {} faults\n", living->size(), faults_);
    return faults_ == 0 ? 0 : 1;
  }

 private:
  int fail(const std::string& why) {
    std::fputs(fmt::format("stackgate-entitystore: {}\n", why).c_str(), stderr);
    return 1;
  }

  void fault(const Record& record, std::string_view what) {
    ++faults_;
    fmt::print("{} {} {}: {}\n", record.id, record.name, record.version, what);
  }

  /// False when the datastore cannot be asked.
  bool served(const Record& record) {
    const auto refs = datastore_.refs(record.repository);
    if (!refs) return fail(refs.error().message), false;
    if (!*refs) return fault(record, fmt::format("its repository {} is missing", record.repository)), true;
    const auto tag = (*refs)->tags.find(tag_of(record.version));
    if (tag == (*refs)->tags.end())
      return fault(record, fmt::format("the tag {} is missing", tag_of(record.version))), true;
    if (tag->second != record.commit)
      return fault(record, fmt::format("the tag {} is at {}, not at {}", tag->first, tag->second, record.commit)), true;
    const auto want = read_files(database_, record.id);
    if (!want) return fail(want.error().message), false;
    const auto have = datastore_.files_at(record.repository, record.commit);
    if (!have) return fail(have.error().message), false;
    for (const StoredFile& file : *want) {
      const auto found = std::ranges::find(*have, file.path, &wire::TreeFile::path);
      if (found == have->end())
        fault(record, fmt::format("{} is missing", file.path));
      else if (found->size != file.size || (file.large && found->sha256 != file.sha256))
        fault(record, fmt::format("{} is another file than the one that was uploaded", file.path));
    }
    return true;
  }

  /// Whose the repositories say that they are. False when somebody cannot be asked.
  bool marks(const std::vector<Record>& living) {
    const auto id = find_setting(database_, "database-id");
    if (!id) return fail(id.error().message), false;
    auto found = datastore_.repositories_of(owner_);
    if (!found) return fail(found.error().message), false;
    // Of another owner, from before --datastore-owner was changed.
    std::set<std::string> seen;
    for (const wire::Described& each : *found) seen.insert(ascii::to_lower(each.name));
    for (const Record& record : living) {
      const bool there = record.status == Status::ready || record.status == Status::pending;
      if (!there || !seen.insert(ascii::to_lower(record.repository)).second) continue;
      auto text = datastore_.description(record.repository);
      if (!text) return fail(text.error().message), false;
      if (*text) found->push_back({record.repository, std::move(**text)});
    }
    for (const wire::Described& each : *found) {
      const auto known = is_known(database_, each.name);
      if (!known) return fail(known.error().message), false;
      mark(each.name, marked_database(each.description), id->value_or(""), *known);
    }
    return true;
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
  return fsck_detail::Checker(database, datastore, owner).run();
}

}  // namespace stackgate::entitystore
