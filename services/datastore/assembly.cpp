#include "services/datastore/assembly.hpp"

#include <filesystem>
#include <system_error>

#include <fmt/format.h>

#include "services/datastore/migrations.hpp"
#include "services/datastore/own_secrets.hpp"
#include "services/kit/base/try.hpp"
#include "services/kit/service/database.hpp"

namespace stackgate::datastore {

Assembly::Assembly(Options chosen, std::shared_ptr<sql::Database> opened_database,
                   std::unique_ptr<objects::Store> opened_store)
    : options(std::move(chosen)),
      database(std::move(opened_database)),
      store(std::move(opened_store)),
      accounts(*database, {.admin_name = options.admin_name, .admin_password = options.admin_password}),
      repositories(*database, options.data_dir),
      large_files(*database, *store,
                  {.file = options.lfs_file, .repository = options.lfs_repository, .total = options.lfs_total}),
      backend{.database = *database,
              .accounts = accounts,
              .repositories = repositories,
              .store = *store,
              .large_files = large_files,
              .jwt_key = options.jwt_key,
              .serve_direct = options.serve_direct,
              .lfs_parts_from = options.lfs_parts_from,
              .lfs_threshold = options.lfs_threshold,
              .anonymous_read = options.anonymous_read} {}

std::expected<std::unique_ptr<Assembly>, Error> assemble(const settings::Values& values, Secrets secrets) {
  Options options = read_options(values);
  auto database = TRY(service::open_database(program(), values));
  std::error_code error;
  for (const std::string_view folder : {"repositories", "trash"}) {
    std::filesystem::create_directories(std::filesystem::path(options.data_dir) / folder, error);
    if (error) return std::unexpected(Error{fmt::format("{}: {}", options.data_dir, error.message())});
  }
  TRY(complete_secrets(options, secrets));
  auto store = objects::open_store(options.store);
  if (!store) return std::unexpected(Error{store.error().message});
  if (options.embedded)
    if (auto done = sql::migrate(*database, all_migrations()); !done)
      return std::unexpected(Error{done.error().message});
  return std::make_unique<Assembly>(std::move(options), std::move(database), std::move(*store));
}

}  // namespace stackgate::datastore
