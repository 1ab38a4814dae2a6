#include "services/kit/sql/database.hpp"

#include <filesystem>

#include <fmt/format.h>

#include "services/kit/sql/pooled_database.hpp"
#include "services/kit/sql/postgres_connection.hpp"
#include "services/kit/sql/sqlite_connection.hpp"

namespace stackgate::sql {
namespace database_detail {

std::expected<std::unique_ptr<Database>, std::string> open_sqlite(std::string path, const Options& options) {
  if (path.empty() || path == ":memory:" || path.contains('\0')) {
    return std::unexpected(std::string("the database URL names no file; write sqlite:PATH"));
  }
  const auto folder = std::filesystem::absolute(path).parent_path();
  std::error_code ignored;
  if (!std::filesystem::is_directory(folder, ignored)) {
    return std::unexpected(fmt::format("the folder {} of the database does not exist", folder.string()));
  }
  const auto pool = [&](unsigned limit, Mode mode) {
    return std::make_unique<ConnectionPool>(
        limit, [path, mode, options](Clock::time_point) { return SqliteConnection::open(path, mode, options); });
  };
  return std::make_unique<PooledDatabase>(Engine::sqlite, options, pool(1, Mode::write),
                                          pool(options.sessions, Mode::read));
}

std::expected<std::unique_ptr<Database>, std::string> open_postgres(std::string_view url, std::string_view password,
                                                                    const Options& options) {
  PostgresTarget target{std::string(url), std::string(password)};
  if (const auto good = check_postgres_url(target.url); !good) {
    return std::unexpected(fmt::format("the database URL {}", good.error()));
  }
  if (password.contains('\0')) return std::unexpected(std::string("the database password holds a NUL"));
  auto pool = std::make_unique<ConnectionPool>(options.sessions, [target, options](Clock::time_point deadline) {
    return PostgresConnection::open(target, options, deadline);
  });
  return std::make_unique<PooledDatabase>(Engine::postgresql, options, std::move(pool), nullptr);
}

}  // namespace database_detail

std::expected<std::unique_ptr<Database>, std::string> Database::open(std::string_view url, std::string_view password,
                                                                     Options options) {
  if (url.starts_with("sqlite:")) return database_detail::open_sqlite(std::string(url.substr(7)), options);
  if (url.starts_with("postgresql://") || url.starts_with("postgres://")) {
    return database_detail::open_postgres(url, password, options);
  }
  return std::unexpected(std::string("the database URL must begin with postgresql:// or sqlite:"));
}

}  // namespace stackgate::sql
