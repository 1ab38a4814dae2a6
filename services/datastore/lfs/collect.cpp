// Garbage: links that no pointer names, files without a link, what interrupted uploads left.
//
// A file goes in three steps: its row becomes 'deleting' (only while nothing links to it and nobody has touched it for
// the grace time), the bytes are removed, the row is removed. An upload of the same file waits between the first and
// the last step (receive.cpp), so it never ends up with a row and no bytes.
#include <optional>
#include <set>

#include "services/datastore/clock.hpp"
#include "services/datastore/lfs/large_files.hpp"
#include "services/datastore/lfs/statements.hpp"
#include "services/kit/base/try.hpp"

namespace stackgate::datastore::lfs {

namespace {
constexpr std::int64_t abandoned_after = 600;  // a 'deleting' row whose collector died
}

Expected<Collected> LargeFiles::collect(std::chrono::seconds grace, const Referenced& referenced) {
  Collected out;
  const std::int64_t before = seconds_now() - grace.count();
  TRY(collect_links(before, referenced, out));
  TRY(collect_files(before, out));
  TRY(collect_orphans(grace, out));
  return out;
}

Expected<void> LargeFiles::collect_links(std::int64_t before, const Referenced& referenced, Collected& out) {
  auto repositories =
      TRY(database_.run("SELECT DISTINCT repository_id FROM lfs_links WHERE touched_at <= $1", {before}));
  for (const sql::Row& row : repositories.rows) {
    const std::int64_t repository = row.integer(0);
    std::set<std::string, std::less<>> named;
    auto read = referenced(repository, [&](std::string_view oid) { named.emplace(oid); });
    if (!read) {
      if (read.error().fault == ServiceFault::missing) continue;
      return read;
    }
    auto links = TRY(
        database_.run("SELECT oid FROM lfs_links WHERE repository_id = $1 AND touched_at <= $2", {repository, before}));
    for (const sql::Row& link : links.rows) {
      const std::string oid = link.text(0);
      if (named.contains(oid)) continue;
      auto gone = TRY(database_.run("DELETE FROM lfs_links WHERE repository_id = $1 AND oid = $2 AND touched_at <= $3",
                                    {repository, oid, before}));
      out.unlinked += static_cast<std::uint64_t>(gone.affected);
    }
  }
  return {};
}

Expected<void> LargeFiles::collect_files(std::int64_t before, Collected& out) {
  auto rows = TRY(
      database_.run("SELECT o.oid FROM lfs_objects o WHERE (o.state = 'present' AND o.touched_at <= $1 AND NOT EXISTS "
                    "(SELECT 1 FROM lfs_links l WHERE l.oid = o.oid)) OR (o.state = 'deleting' AND o.touched_at <= $2)",
                    {before, seconds_now() - abandoned_after}));
  for (const sql::Row& row : rows.rows) {
    const std::string oid = row.text(0);
    // Serializable: a statement alone would look at the row anew after an upload's commit, but not at the links.
    std::optional<std::int64_t> size;
    (void)TRY(database_.transact([&](sql::Session& session) -> sql::Expected<void> {
      size.reset();
      auto row_marked = TRY(session.run(
          "UPDATE lfs_objects SET state = 'deleting', touched_at = $1 WHERE oid = $2 AND "
          "((state = 'present' AND touched_at <= $3 AND NOT EXISTS (SELECT 1 FROM lfs_links l WHERE l.oid = $4)) "
          "OR (state = 'deleting' AND touched_at <= $5)) RETURNING size",
          {seconds_now(), oid, before, oid, seconds_now() - abandoned_after}));
      if (!row_marked.rows.empty()) size = row_marked.rows[0].integer(0);
      return {};
    }));
    if (!size) continue;  // linked in the meantime
    TRY(store_.remove(key_of(oid)));
    (void)TRY(database_.run("DELETE FROM lfs_objects WHERE oid = $1 AND state = 'deleting'", {oid}));
    ++out.removed;
    out.bytes += static_cast<std::uint64_t>(*size);
  }
  return {};
}

Expected<void> LargeFiles::collect_unknown(std::span<const std::string> oids, Collected& out) {
  auto known = TRY(database_.run("SELECT oid FROM lfs_objects WHERE oid " + in_list(database_.engine(), "$1"),
                                 {list_value(database_.engine(), oids)}));
  std::set<std::string> with_row;
  for (const sql::Row& row : known.rows) with_row.insert(row.text(0));
  for (const std::string& oid : oids) {
    if (with_row.contains(oid)) continue;
    // The row stands in for the file while it is removed, as in collect_files(); none is made where one stands.
    auto mine =
        TRY(database_.run("INSERT INTO lfs_objects (oid, size, state, touched_at) VALUES ($1, 0, 'deleting', $2) "
                          "ON CONFLICT (oid) DO NOTHING RETURNING oid",
                          {oid, seconds_now()}));
    if (mine.rows.empty()) continue;
    TRY(store_.remove(key_of(oid)));
    (void)TRY(database_.run("DELETE FROM lfs_objects WHERE oid = $1 AND state = 'deleting'", {oid}));
    ++out.orphans;
  }
  return {};
}

Expected<void> LargeFiles::collect_orphans(std::chrono::seconds grace, Collected& out) {
  const auto before = std::chrono::system_clock::now() - grace;
  std::vector<std::string> oids, incoming;
  Expected<void> done;
  auto listed = store_.list("lfs/", [&](const objects::Entry& entry) {
    std::string oid = entry.key.substr(entry.key.rfind('/') + 1);
    if (entry.info.modified > before || !is_oid(oid) || entry.key != key_of(oid)) return true;
    oids.push_back(std::move(oid));
    if (oids.size() < 1000) return true;
    done = collect_unknown(oids, out);
    oids.clear();
    return done.has_value();
  });
  if (!listed) return std::unexpected(listed.error());
  if (done) done = collect_unknown(oids, out);
  if (!done) return done;
  listed = store_.list("incoming/", [&](const objects::Entry& entry) {
    if (entry.info.modified <= before) incoming.push_back(entry.key);
    return true;
  });
  if (!listed) return std::unexpected(listed.error());
  for (const std::string& key : incoming) {
    const std::string_view rest = std::string_view(key).substr(std::string_view("incoming/").size());
    const auto slash = rest.find('/');
    if (slash == std::string_view::npos) continue;
    auto known = TRY(database_.run("SELECT 1 FROM lfs_incoming WHERE oid = $1 AND CAST(repository_id AS TEXT) = $2",
                                   {std::string(rest.substr(slash + 1)), std::string(rest.substr(0, slash))}));
    if (!known.rows.empty()) continue;
    TRY(store_.remove(key));
    ++out.orphans;
  }
  return {};
}

}  // namespace stackgate::datastore::lfs
