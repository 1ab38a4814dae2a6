#include "services/datastore/store_there.hpp"

#include <filesystem>
#include <string>
#include <system_error>

#include <fmt/format.h>

#include "services/datastore/options.hpp"
#include "services/kit/service/database.hpp"

namespace stackgate::datastore {

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

}  // namespace stackgate::datastore
