#include "services/datastore/commands.hpp"

#include <cstdio>
#include <string>

#include <fmt/format.h>

#include "services/datastore/migrations.hpp"
#include "services/datastore/store_there.hpp"
#include "services/kit/service/database.hpp"

namespace stackgate::datastore {
namespace {

int migrate(const settings::Values& values) {
  auto database = service::open_database(program(), values);
  if (!database) return command_failed(database.error().message);
  auto done = sql::migrate(**database, all_migrations());
  if (!done) return command_failed(done.error().message);
  fmt::print("schema: version {} (was {})\n", done->to, done->from);
  return 0;
}

}  // namespace

int command_failed(std::string_view message) {
  std::fputs(fmt::format("stackgate-datastore: {}\n", message).c_str(), stderr);
  return 1;
}

int run_command(const settings::Values& values) {
  if (values.command() == "migrate") return migrate(values);
  if (values.command() != "init") {
    if (auto there = require_store(values); !there) {
      command_failed(there.error().message);
      return 2;
    }
  }
  auto all = assemble(values);
  if (!all) return command_failed(all.error().message);
  if (values.command() == "init") return init(**all, values);
  if (auto current = sql::require_current(*(*all)->database, all_migrations()); !current)
    return command_failed(current.error().message);
  if (values.command() == "fsck") return fsck(**all);
  if (values.command() == "gc") return collect_garbage(**all);
  if (values.command() == "user") return manage_users(**all, values);
  return manage_tokens(**all, values);
}

}  // namespace stackgate::datastore
