// Versioned migrations, safe when several replicas run them at once: one holds a lock, the others wait and find them
// done.
#pragma once
#include <span>
#include <string_view>

#include "services/kit/sql/database.hpp"

namespace stackgate::sql {

/// One step, applied once, in order, in one transaction with the note that it was. Never change one that was released.
struct Migration {
  int version;  // 1, 2, 3, …
  std::string_view name;
  std::string_view sqlite;      // any number of statements, each ended by a semicolon
  std::string_view postgresql;  // empty: the same, and what is AUTOINCREMENT in SQLite is an IDENTITY
};

struct Migrated {
  int from, to;
};

/// Applies what is missing. A database that is newer than this program knows is an error that says so.
Expected<Migrated> migrate(Database& database, std::span<const Migration> migrations);
/// What a service checks at its start: fault `broken` with the command to run when migrations are missing.
Expected<void> require_current(Database& database, std::span<const Migration> migrations);

}  // namespace stackgate::sql
