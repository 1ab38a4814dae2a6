#include <chrono>
#include <cstdio>
#include <thread>

#include <fmt/format.h>

#include "services/entitystore/adapters/rows.hpp"
#include "services/entitystore/program/program.hpp"
#include "services/kit/service/database.hpp"

namespace stackgate::entitystore {
namespace commands_detail {

constexpr std::chrono::minutes patience{10};

/// An init container may come up before its database does.
int migrate(sql::Database& database) {
  const auto until = std::chrono::steady_clock::now() + patience;
  bool printed = false;
  while (true) {
    const auto done = sql::migrate(database, migrations());
    if (done) {
      fmt::print("schema: version {} (was {})\n", done->to, done->from);
      return 0;
    }
    const bool later = done.error().fault == sql::Fault::away || done.error().fault == sql::Fault::busy;
    if (!later || std::chrono::steady_clock::now() > until) return failed(done.error().message);
    if (!printed) fmt::print(stderr, "stackgate-entitystore: waiting for the database: {}\n", done.error().message);
    printed = true;
    std::this_thread::sleep_for(std::chrono::seconds(1));
  }
}

}  // namespace commands_detail

int failed(std::string_view message) {
  std::fputs(fmt::format("stackgate-entitystore: {}\n", message).c_str(), stderr);
  return 1;
}

int run_command(const settings::Values& values) {
  auto database = service::open_database(program(), values);
  if (!database) return failed(database.error().message);
  if (values.command() == "migrate") return commands_detail::migrate(**database);
  if (auto current = sql::require_current(**database, migrations()); !current) return failed(current.error().message);
  Datastore datastore(datastore_options(values));
  return fsck(**database, datastore, values.text("datastore-owner"));
}

}  // namespace stackgate::entitystore
