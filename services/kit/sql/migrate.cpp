#include "services/kit/sql/migrate.hpp"

#include <algorithm>
#include <thread>

#include <fmt/format.h>

#include "services/kit/base/try.hpp"
#include "services/kit/sql/connection.hpp"

namespace stackgate::sql {
namespace migrate_detail {

constexpr std::chrono::minutes longest{10};
constexpr std::string_view table_in_sqlite =
    "SELECT name FROM sqlite_schema WHERE type = 'table' AND name = 'stackgate_migrations'";

std::unexpected<SqlError> broken(std::string message) {
  return std::unexpected(SqlError{Fault::broken, std::move(message), {}});
}

/// The highest that was applied, after comparing names: two programs in one database would take each other's tables.
Expected<int> applied(Session& session, std::span<const Migration> known) {
  const auto rows = TRY(session.run("SELECT version, name FROM stackgate_migrations ORDER BY version"));
  int last = 0;
  for (const Row& row : rows.rows) {
    last = static_cast<int>(row.integer(0));
    const auto ours = std::ranges::find(known, last, &Migration::version);
    if (ours == known.end()) {
      return broken(fmt::format(
          "the database is at version {} ({}) and this program knows only {}: run the newer program, or give this one "
          "a database of its own",
          last, row.text(1), known.empty() ? 0 : known.back().version));
    }
    if (row.text(1) != ours->name) {
      return broken(
          fmt::format("the database's migration {} is \"{}\" and this program's is \"{}\": it belongs to "
                      "another program; give this one a database of its own",
                      last, row.text(1), ours->name));
    }
  }
  return last;
}

// Not to_regclass(): it may answer from the session's cache, which is older than the lock.
constexpr std::string_view table_in_postgresql =
    "SELECT 1 FROM pg_tables WHERE tablename = 'stackgate_migrations' AND schemaname = ANY (current_schemas(false))";

Expected<bool> has_table(Session& session) {
  const auto rows = TRY(session.run(session.engine() == Engine::sqlite ? table_in_sqlite : table_in_postgresql));
  return !rows.rows.empty();
}

Expected<void> lock(Session& session) {
  TRY(session.allow(longest));
  if (session.engine() == Engine::sqlite) return {};  // BEGIN IMMEDIATE has it
  // The snapshot must be younger than the lock, so that what its last holder did is seen.
  TRY(session.script("SET TRANSACTION ISOLATION LEVEL READ COMMITTED"));
  (void)TRY(session.run("SELECT pg_advisory_xact_lock(8370115274103651661)"));  // a number that nobody else uses
  return {};
}

std::string statements_of(const Migration& migration, Engine engine) {
  if (engine == Engine::postgresql && !migration.postgresql.empty()) return std::string(migration.postgresql);
  std::string out(migration.sqlite);
  constexpr std::string_view counted = "INTEGER PRIMARY KEY AUTOINCREMENT";
  for (auto at = out.find(counted); engine == Engine::postgresql && at != std::string::npos; at = out.find(counted))
    out.replace(at, counted.size(), "BIGINT GENERATED ALWAYS AS IDENTITY PRIMARY KEY");
  return out;
}

/// One step, or nothing when all are there.
Expected<void> step(Session& session, std::span<const Migration> migrations, Migrated& at) {
  TRY(lock(session));
  if (!TRY(has_table(session)))
    TRY(session.script(
        "CREATE TABLE stackgate_migrations (version BIGINT PRIMARY KEY, name TEXT NOT NULL, applied_at TEXT NOT "
        "NULL);"));
  const auto before = TRY(applied(session, migrations));
  at = {before, before};
  const auto next = std::ranges::find_if(migrations, [&](const Migration& m) { return m.version > before; });
  if (next == migrations.end()) return {};
  if (auto done = session.script(statements_of(*next, session.engine())); !done) {
    SqlError error = done.error();
    error.message = fmt::format("migration {} ({}): {}", next->version, next->name, error.message);
    return std::unexpected(std::move(error));
  }
  const std::string now = session.engine() == Engine::sqlite
                              ? "strftime('%Y-%m-%dT%H:%M:%SZ', 'now')"
                              : R"(to_char(now() AT TIME ZONE 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS"Z"'))";
  TRY(session.run(fmt::format("INSERT INTO stackgate_migrations VALUES ($1, $2, {})", now),
                  {std::int64_t{next->version}, std::string(next->name)}));
  at.to = next->version;
  return {};
}

Expected<void> in_order(std::span<const Migration> migrations) {
  int last = 0;
  for (const Migration& migration : migrations) {
    if (migration.version != ++last) return broken(fmt::format("migration {} is not number {}", migration.name, last));
  }
  return {};
}

}  // namespace migrate_detail

Expected<Migrated> migrate(Database& database, std::span<const Migration> migrations) {
  using namespace migrate_detail;
  TRY(in_order(migrations));
  std::optional<int> from;
  const auto end = Clock::now() + longest;
  for (;;) {
    Migrated at{0, 0};
    const auto done = database.transact([&](Session& session) { return step(session, migrations, at); });
    if (!done) {
      // Another replica is at work: its transaction is the lock.
      if (done.error().fault != Fault::busy || Clock::now() > end) return std::unexpected(done.error());
      std::this_thread::sleep_for(Milliseconds(100));
      continue;
    }
    if (!from) from = at.from;
    if (at.from == at.to) return Migrated{*from, at.to};
  }
}

Expected<void> require_current(Database& database, std::span<const Migration> migrations) {
  using namespace migrate_detail;
  int version = 0;
  const auto done = database.read([&](Session& session) -> Expected<void> {
    if (!TRY(has_table(session))) return {};
    version = TRY(applied(session, migrations));
    return {};
  });
  if (!done) return done;
  const int wanted = migrations.empty() ? 0 : migrations.back().version;
  if (version == wanted) return {};
  return broken(fmt::format(
      "the database is at version {} and this program needs {}: run its command \"migrate\" first", version, wanted));
}

}  // namespace stackgate::sql
