#include "services/datastore/lfs/large_files.hpp"

#include <algorithm>
#include <array>

#include "services/datastore/clock.hpp"
#include "services/datastore/lfs/statements.hpp"
#include "services/kit/base/try.hpp"
#include "services/kit/log/log.hpp"

namespace stackgate::datastore::lfs {

namespace {

// Links asked for again within this time are not written again.
constexpr std::int64_t fresh_for = 3600;

std::int64_t as_sql(std::uint64_t n) { return static_cast<std::int64_t>(n); }

/// What is not hashed yet moves to its own key once it is, also under a reader's hands: S3 is read stretch by stretch.
class MovingDownload final : public objects::Download {
 public:
  MovingDownload(objects::Store& store, std::string later_key, std::unique_ptr<objects::Download> from,
                 std::uint64_t offset)
      : store_(store), later_key_(std::move(later_key)), from_(std::move(from)), at_(offset) {}

  std::uint64_t size() const override { return from_->size(); }
  int descriptor() const override { return from_->descriptor(); }

  objects::Expected<std::size_t> read(std::span<char> space) override {
    auto got = from_->read(space);
    if (!got && got.error().fault == objects::Fault::missing && !moved_) {
      moved_ = true;
      if (auto again = store_.open(later_key_, at_)) {
        from_ = std::move(*again);
        got = from_->read(space);
      }
    }
    if (got) at_ += *got;
    return got;
  }

 private:
  objects::Store& store_;
  const std::string later_key_;
  std::unique_ptr<objects::Download> from_;
  std::uint64_t at_;
  bool moved_ = false;
};

}  // namespace

void log_cause(std::string_view message) { log::warning("large files", {{"cause", message}}); }

bool is_oid(std::string_view text) {
  return text.size() == 64 &&
         std::ranges::all_of(text, [](char c) { return (c >= '0' && c <= '9') || (c >= 'a' && c <= 'f'); });
}

std::string key_of(std::string_view oid) {
  return "lfs/" + std::string(oid.substr(0, 2)) + "/" + std::string(oid.substr(2, 2)) + "/" + std::string(oid);
}

std::string incoming_key(std::int64_t repository, std::string_view oid) {
  return "incoming/" + std::to_string(repository) + "/" + std::string(oid);
}

LargeFiles::LargeFiles(sql::Database& database, objects::Store& store, Limits limits)
    : database_(database), store_(store), limits_(limits) {}

Expected<std::vector<Known>> LargeFiles::look_up(std::int64_t repository, std::span<const std::string> oids) {
  static const auto text = [](sql::Engine engine) {
    return "SELECT o.oid, o.size, 1, CASE WHEN l.oid IS NULL THEN 0 ELSE 1 END, COALESCE(l.touched_at, 0) "
           "FROM lfs_objects o LEFT JOIN lfs_links l ON l.repository_id = $1 AND l.oid = o.oid "
           "WHERE o.state = 'present' AND o.oid " +
           in_list(engine, "$2") +
           " UNION ALL SELECT i.oid, i.size, 0, 1, i.touched_at FROM lfs_incoming i "
           "WHERE i.repository_id = $3 AND i.oid " +
           in_list(engine, "$4");
  };
  static const std::string sqlite = text(sql::Engine::sqlite), postgresql = text(sql::Engine::postgresql);
  const sql::Engine engine = database_.engine();
  const std::string list = list_value(engine, oids);
  auto result =
      TRY(database_.run(engine == sql::Engine::sqlite ? sqlite : postgresql, {repository, list, repository, list}));
  std::vector<Known> out;
  for (const sql::Row& row : result.rows) {
    const bool trusted = row.integer(2) == 1;
    std::string oid = row.text(0);
    Stat stat{static_cast<std::uint64_t>(row.integer(1)), trusted ? State::trusted : State::unverified,
              trusted ? key_of(oid) : incoming_key(repository, oid)};
    out.push_back({std::move(oid), std::move(stat), row.integer(3) == 1, row.integer(4)});
  }
  // A file may be both: hashed elsewhere and waiting here. The linked one is this repository's, hashed before waiting.
  std::ranges::sort(out, [](const Known& a, const Known& b) {
    if (a.oid != b.oid) return a.oid < b.oid;
    if (a.linked != b.linked) return a.linked;
    return a.stat.state < b.stat.state;
  });
  const auto again = std::ranges::unique(out, {}, &Known::oid);
  out.erase(again.begin(), again.end());
  return out;
}

Expected<std::optional<Stat>> LargeFiles::stat(std::int64_t repository, std::string_view oid) {
  if (!is_oid(oid)) return std::nullopt;
  const std::array one{std::string(oid)};
  auto known = TRY(look_up(repository, one));
  if (known.empty() || !known.front().linked) return std::nullopt;
  return known.front().stat;
}

Expected<bool> LargeFiles::is_linked(std::int64_t repository, std::string_view oid) {
  auto found = TRY(stat(repository, oid));
  return found.has_value();
}

Expected<void> LargeFiles::link(std::int64_t repository, std::string_view oid) {
  bool found = false;
  auto done = link_within_limits(repository, oid, [&](sql::Session& session) -> sql::Expected<void> {
    found = false;
    // Locks the row, and its fresh time keeps collect() from it.
    auto row =
        TRY(session.run("UPDATE lfs_objects SET touched_at = $1 WHERE oid = $2 AND state = 'present' RETURNING oid",
                        {seconds_now(), std::string(oid)}));
    if (row.rows.empty()) return {};
    found = true;
    TRY(
        session.run("INSERT INTO lfs_links (repository_id, oid, touched_at) VALUES ($1, $2, $3) "
                    "ON CONFLICT (repository_id, oid) DO UPDATE SET touched_at = excluded.touched_at",
                    {repository, std::string(oid), seconds_now()}));
    return {};
  });
  if (!done) return done;
  if (!found)
    return std::unexpected(ServiceError{ServiceFault::missing, "large file " + std::string(oid) + " is not here"});
  return {};
}

Expected<void> LargeFiles::unlink(std::int64_t repository, std::string_view oid) {
  (void)TRY(database_.transact([&](sql::Session& session) -> sql::Expected<void> {
    for (std::string_view statement : {"DELETE FROM lfs_links WHERE repository_id = $1 AND oid = $2",
                                       "DELETE FROM lfs_incoming WHERE repository_id = $1 AND oid = $2"})
      TRY(session.run(statement, {repository, std::string(oid)}));
    return {};
  }));
  return {};
}

Expected<void> LargeFiles::touch(std::int64_t repository, std::span<const Known> files) {
  std::vector<std::string> stale;
  const std::int64_t now = seconds_now();
  for (const Known& file : files)
    if (file.linked && file.touched < now - fresh_for) stale.push_back(file.oid);
  if (stale.empty()) return {};
  const sql::Engine engine = database_.engine();
  for (std::string_view table : {"lfs_links", "lfs_incoming"}) {
    (void)TRY(database_.run("UPDATE " + std::string(table) + " SET touched_at = $1 WHERE repository_id = $2 AND oid " +
                                in_list(engine, "$3"),
                            {now, repository, list_value(engine, stale)}));
  }
  return {};
}

Expected<std::vector<std::int64_t>> LargeFiles::holders(std::string_view oid, std::int64_t except, std::size_t limit) {
  auto rows = TRY(database_.run(
      "SELECT repository_id FROM lfs_links WHERE oid = $1 AND repository_id <> $2 ORDER BY repository_id LIMIT $3",
      {std::string(oid), except, as_sql(limit)}));
  std::vector<std::int64_t> out;
  out.reserve(rows.rows.size());
  for (const sql::Row& row : rows.rows) out.push_back(row.integer(0));
  return out;
}

Expected<Usage> LargeFiles::usage(std::int64_t repository) {
  auto row = TRY(database_.run(
      "SELECT (SELECT CAST(COALESCE(SUM(o.size), 0) AS BIGINT) FROM lfs_links l JOIN lfs_objects o ON o.oid = l.oid "
      "        WHERE l.repository_id = $1), "
      "       (SELECT CAST(COALESCE(SUM(size), 0) AS BIGINT) FROM lfs_incoming WHERE repository_id = $2), "
      "       (SELECT CAST(COALESCE(SUM(size), 0) AS BIGINT) FROM lfs_objects), "
      "       (SELECT CAST(COALESCE(SUM(size), 0) AS BIGINT) FROM lfs_incoming)",
      {repository, repository}));
  if (row.rows.empty()) return Usage{};
  const auto at = [&](std::size_t i) { return static_cast<std::uint64_t>(row.rows[0].integer(i)); };
  return Usage{at(0) + at(1), at(2) + at(3)};
}

Expected<void> LargeFiles::admit(std::int64_t repository, std::uint64_t size, std::uint64_t more) {
  if (limits_.file != 0 && size > limits_.file)
    return std::unexpected(ServiceError{
        ServiceFault::too_large,
        "the file has " + std::to_string(size) + " bytes; this server takes at most " + std::to_string(limits_.file)});
  if (limits_.repository == 0 && limits_.total == 0) return {};
  auto used = TRY(usage(repository));
  if (limits_.repository != 0 && (more > limits_.repository || used.repository > limits_.repository - more))
    return std::unexpected(ServiceError{
        ServiceFault::quota, "the repository's quota for large files (" + std::to_string(limits_.repository) +
                                 " bytes) is used up: " + std::to_string(used.repository) + " bytes are stored"});
  if (limits_.total != 0 && (more > limits_.total || used.total > limits_.total - more))
    return std::unexpected(ServiceError{ServiceFault::quota, "the server's quota for large files is used up"});
  return {};
}

Expected<std::unique_ptr<objects::Download>> LargeFiles::open(const Stat& file, std::uint64_t offset) {
  auto opened = store_.open(file.key, offset);
  if (file.state == State::unverified) {
    std::string later = key_of(std::string_view(file.key).substr(file.key.rfind('/') + 1));
    if (opened) return std::make_unique<MovingDownload>(store_, std::move(later), std::move(*opened), offset);
    if (opened.error().fault == objects::Fault::missing) opened = store_.open(later, offset);
  }
  if (!opened) return std::unexpected(opened.error());
  return std::move(*opened);
}

std::optional<std::string> LargeFiles::presign(const Stat& file, const objects::PresignOptions& options) {
  // What is not hashed yet will move, and the address with it.
  if (file.state == State::unverified) return {};
  return store_.presigned_get(file.key, options);
}

}  // namespace stackgate::datastore::lfs
