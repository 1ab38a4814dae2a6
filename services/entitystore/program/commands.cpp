#include <cstdio>

#include <fmt/format.h>

#include "services/entitystore/adapters/rows.hpp"
#include "services/entitystore/program/program.hpp"
#include "services/kit/service/database.hpp"

namespace stackgate::entitystore {
int failed(std::string_view message) {
  std::fputs(fmt::format("stackgate-entitystore: {}\n", message).c_str(), stderr);
  return 1;
}

int run_command(const settings::Values& values) {
  if (values.command() == "migrate") return service::migrate_command(program(), values, migrations());
  auto database = service::open_database(program(), values);
  if (!database) return failed(database.error().message);
  if (auto current = sql::require_current(**database, migrations()); !current) return failed(current.error().message);
  Datastore datastore(datastore_options(values));
  return fsck(**database, datastore, values.text("datastore-owner"));
}

}  // namespace stackgate::entitystore
