// Database against datastore: every adapter that can be served has its commit, its tag and its files, and nothing is
// left of those that are gone. Changes nothing: the sweep does.
#include <algorithm>
#include <cstdio>

#include <fmt/format.h>

#include "services/entitystore/adapters/names.hpp"
#include "services/entitystore/adapters/rows.hpp"
#include "services/entitystore/program/serve.hpp"
#include "services/entitystore/registration/registrar.hpp"

namespace stackgate::entitystore {
namespace fsck_detail {

class Checker {
 public:
  Checker(sql::Database& database, Datastore& datastore) : database_(database), datastore_(datastore) {}

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

  sql::Database& database_;
  Datastore& datastore_;
  std::size_t faults_ = 0;
};

}  // namespace fsck_detail

int fsck(sql::Database& database, Datastore& datastore) { return fsck_detail::Checker(database, datastore).run(); }

}  // namespace stackgate::entitystore
