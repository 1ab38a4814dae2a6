// Records held against the store.
#include <fmt/format.h>

#include "services/datastore/lfs/large_files.hpp"
#include "services/datastore/lfs/statements.hpp"
#include "services/kit/base/try.hpp"
#include "services/kit/crypto/digest.hpp"

namespace stackgate::datastore::lfs {

namespace {

Expected<std::string> fsck_hash(objects::Store& store, const std::string& key) {
  auto file = TRY(store.open(key));
  crypto::Sha256Stream hash;
  std::string space(256UL * 1024, '\0');
  for (;;) {
    auto got = TRY(file->read(space));
    if (got == 0) return crypto::to_hex(hash.finish());
    hash.add(std::string_view(space).substr(0, got));
  }
}

}  // namespace

Expected<Fsck> LargeFiles::fsck(bool hash) {
  Fsck out;
  std::string after;
  for (;;) {  // in pages: there may be millions
    auto rows = TRY(database_.run(
        "SELECT oid, size FROM lfs_objects WHERE state = 'present' AND oid > $1 ORDER BY oid LIMIT 1000", {after}));
    if (rows.rows.empty()) break;
    for (const sql::Row& row : rows.rows) {
      after = row.text(0);
      const auto size = static_cast<std::uint64_t>(row.integer(1));
      ++out.files;
      out.bytes += size;
      const auto there = store_.stat(key_of(after));
      if (!there && there.error().fault != objects::Fault::missing) return std::unexpected(there.error());
      if (!there) {
        out.faults.push_back("large file " + after + ": not in the object store");
      } else if (there->size != size) {
        out.faults.push_back("large file " + after + ": has " + std::to_string(there->size) + " bytes, recorded are " +
                             std::to_string(size));
      } else if (hash) {
        auto really = TRY(fsck_hash(store_, key_of(after)));
        if (really != after) out.faults.push_back(fmt::format("large file {}: its bytes hash to {}", after, really));
      }
    }
  }
  auto dangling = TRY(database_.run(
      "SELECT l.repository_id, l.oid FROM lfs_links l LEFT JOIN lfs_objects o ON o.oid = l.oid AND o.state = 'present' "
      "WHERE o.oid IS NULL ORDER BY l.repository_id, l.oid LIMIT 1000"));
  for (const sql::Row& row : dangling.rows)
    out.faults.push_back("repository " + std::to_string(row.integer(0)) + ": linked to large file " + row.text(1) +
                         ", which is not here");
  return out;
}

}  // namespace stackgate::datastore::lfs
