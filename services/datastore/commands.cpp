#include "services/datastore/commands.hpp"

#include <cstdio>
#include <expected>
#include <filesystem>
#include <string>
#include <system_error>

#include <fmt/format.h>

#include "services/datastore/migrations.hpp"
#include "services/datastore/options.hpp"
#include "services/kit/base/error.hpp"
#include "services/kit/service/database.hpp"
#include "services/kit/settings/settings.hpp"

namespace stackgate::datastore {

namespace {

/// Is there a store where the settings point? Asked before the commands that look after one, so that a misspelt
/// directory is not made into an empty store that looks healthy. Makes and opens nothing. With SQLite its file decides,
/// with PostgreSQL the folder of repositories; what the tables hold is asked afterwards. The error says what is missing
/// and what to do.
std::expected<void, Error> require_store(const settings::Values& values) {
  const std::string url = service::database_url(program(), values);
  const std::string& folder = values.text("data-dir");
  const std::string repositories = folder + "/repositories";
  const bool embedded = url.starts_with("sqlite:");
  const std::string needed = embedded ? url.substr(7) : repositories;
  std::error_code error;
  if (std::filesystem::exists(needed, error)) return {};
  if (error) return std::unexpected(Error{fmt::format("{} cannot be looked at: {}", needed, error.message())});
  if (embedded && std::filesystem::exists(repositories, error))
    return std::unexpected(
        Error{fmt::format("there is no database {} beside the repositories in {}; give the --database-url that serve "
                          "has, or restore the file from a backup",
                          needed, folder)});
  return std::unexpected(
      Error{fmt::format("there is no store in {} ({} is missing), and nothing was made; give the --data-dir that serve "
                        "has, or make a store with: stackgate-datastore init --data-dir {}",
                        folder, needed, folder)});
}

}  // namespace

int command_failed(std::string_view message) {
  std::fputs(fmt::format("stackgate-datastore: {}\n", message).c_str(), stderr);
  return 1;
}

int run_command(const settings::Values& values) {
  if (values.command() == "migrate") return service::migrate_command(program(), values, all_migrations());
  const bool makes_store = values.command() == "init";
  if (!makes_store) {
    if (auto there = require_store(values); !there) {
      command_failed(there.error().message);
      return 2;
    }
  }
  auto all = assemble(values, makes_store ? Secrets::made : Secrets::kept);
  if (!all) return command_failed(all.error().message);
  if (makes_store) return init(**all, values);
  if (auto current = sql::require_current(*(*all)->database, all_migrations()); !current)
    return command_failed(current.error().message);
  if (values.command() == "fsck") return fsck(**all);
  if (values.command() == "gc") return collect_garbage(**all);
  if (values.command() == "user") return manage_users(**all, values);
  return manage_tokens(**all, values);
}

}  // namespace stackgate::datastore
