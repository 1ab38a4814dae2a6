// The database that the common settings name.
#pragma once
#include <expected>
#include <memory>
#include <span>
#include <string>

#include "services/kit/base/error.hpp"
#include "services/kit/service/service.hpp"
#include "services/kit/settings/settings.hpp"
#include "services/kit/sql/database.hpp"
#include "services/kit/sql/migrate.hpp"

namespace stackgate::service {

/// --database-url, or "sqlite:DATA_DIR/datastore.db" for the program "stackgate-datastore".
std::string database_url(const settings::Program& program, const settings::Values& values);
/// Empty when the URL can be used. Touches no file.
std::string database_url_problem(const std::string& url);

/// The URL without its options, for people: where the data is, and no secret.
std::string database_shown(std::string url);

/// Makes data-dir (for this user alone) where it is missing, and opens; does not connect.
/// `erase`: secrets are stored in it (sql::Options::erase).
std::expected<std::shared_ptr<sql::Database>, Error> open_database(const settings::Program& program,
                                                                   const settings::Values& values, bool erase = false);

/// The same for a service that needs these migrations: an embedded database, which nobody else looks after, is brought
/// to them. The error says which command to run when they are missing; a database that is away may come back.
std::expected<std::shared_ptr<sql::Database>, Error> open_migrated(const settings::Program& program,
                                                                   const settings::Values& values,
                                                                   std::span<const sql::Migration> migrations,
                                                                   bool erase = false);

/// The command `migrate`: opens the database, waits for it (it may come up after an init container), and brings it to
/// these migrations. Prints what it did, or why not; the exit code.
int migrate_command(const settings::Program& program, const settings::Values& values,
                    std::span<const sql::Migration> migrations);
/// The same with a database that is open.
int migrate_command(const settings::Program& program, sql::Database& database,
                    std::span<const sql::Migration> migrations);

/// Readiness check "database".
Check database_check(std::shared_ptr<sql::Database> database);

}  // namespace stackgate::service
