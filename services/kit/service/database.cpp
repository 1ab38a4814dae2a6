#include "services/kit/service/database.hpp"

#include <algorithm>
#include <chrono>
#include <cstdio>
#include <filesystem>
#include <thread>

#include <fmt/format.h>

#include "services/kit/base/try.hpp"

namespace stackgate::service {
namespace {

constexpr std::chrono::minutes migration_patience{10};

}  // namespace

std::string database_url(const settings::Program& program, const settings::Values& values) {
  if (values.has("database-url")) return values.text("database-url");
  std::string_view name = program.name;
  if (name.starts_with("stackgate-")) name.remove_prefix(10);
  return fmt::format("sqlite:{}/{}.db", values.text("data-dir"), name);
}

std::string database_url_problem(const std::string& url) {
  // A file's folder may not be there yet, which open() would not like.
  if (url.starts_with("sqlite:")) return url.size() > 7 ? std::string() : "names no file";
  auto opened = sql::Database::open(url, {});
  return opened ? std::string() : std::move(opened.error());
}

std::string database_shown(std::string url) {
  if (url.starts_with("sqlite:")) return url;
  url.resize(std::min(url.size(), url.find('?')));
  // A password is refused before this; whatever is there nevertheless is none of the log's business.
  const auto begin = url.find("//");
  const auto at = url.rfind('@');
  const auto colon = url.find(':', begin == std::string::npos ? 0 : begin);
  if (at != std::string::npos && colon < at) url.erase(colon, at - colon);
  return url;
}

std::expected<std::shared_ptr<sql::Database>, Error> open_database(const settings::Program& program,
                                                                   const settings::Values& values, bool erase) {
  const std::filesystem::path folder = values.text("data-dir");
  std::error_code fault;
  if (!folder.empty() && std::filesystem::create_directories(folder, fault)) {
    std::filesystem::permissions(folder, std::filesystem::perms::owner_all, fault);
  }
  if (fault) return std::unexpected(Error{fmt::format("cannot make {}: {}", folder.string(), fault.message())});
  const std::chrono::milliseconds limit(values.integer("database-timeout"));
  const auto sessions = static_cast<unsigned>(values.integer("database-sessions"));
  auto opened = sql::Database::open(database_url(program, values), values.text("database-password"),
                                    {.sessions = sessions, .statement = limit, .erase = erase});
  if (!opened) return std::unexpected(Error{std::move(opened.error())});
  return std::shared_ptr<sql::Database>(*std::move(opened));
}

std::expected<std::shared_ptr<sql::Database>, Error> open_migrated(const settings::Program& program,
                                                                   const settings::Values& values,
                                                                   std::span<const sql::Migration> migrations,
                                                                   bool erase) {
  auto database = TRY(open_database(program, values, erase));
  if (database->engine() == sql::Engine::sqlite)
    if (auto done = sql::migrate(*database, migrations); !done) return std::unexpected(Error{done.error().message});
  const auto current = sql::require_current(*database, migrations);
  if (!current && current.error().fault == sql::Fault::broken) return std::unexpected(Error{current.error().message});
  return database;
}

int migrate_command(const settings::Program& program, const settings::Values& values,
                    std::span<const sql::Migration> migrations) {
  const auto database = open_database(program, values);
  if (database) return migrate_command(program, **database, migrations);
  fmt::print(stderr, "{}: {}\n", program.name, database.error().message);
  return 1;
}

int migrate_command(const settings::Program& program, sql::Database& database,
                    std::span<const sql::Migration> migrations) {
  const auto until = std::chrono::steady_clock::now() + migration_patience;
  for (bool printed = false;; printed = true) {
    const auto done = sql::migrate(database, migrations);
    if (done) {
      fmt::print("schema: version {} (was {})\n", done->to, done->from);
      return 0;
    }
    const bool later = done.error().fault == sql::Fault::away || done.error().fault == sql::Fault::busy;
    if (!later || std::chrono::steady_clock::now() > until) {
      fmt::print(stderr, "{}: {}\n", program.name, done.error().message);
      return 1;
    }
    if (!printed) fmt::print(stderr, "{}: waiting for the database: {}\n", program.name, done.error().message);
    std::this_thread::sleep_for(std::chrono::seconds(1));
  }
}

Check database_check(std::shared_ptr<sql::Database> database) {
  return {"database", [database = std::move(database)](std::chrono::milliseconds limit) -> std::expected<void, Error> {
            const auto answer = database->ping(limit);
            if (!answer) return std::unexpected(Error{answer.error().message});
            return {};
          }};
}

}  // namespace stackgate::service
