#include <cstdio>

#include <fmt/format.h>

#include "services/guardrail/memory/conversations.hpp"
#include "services/guardrail/program/program.hpp"
#include "services/kit/service/database.hpp"

namespace stackgate::guardrail {

int run_command(const settings::Values& values) {
  if (values.command() != "migrate") return check(values);
  const auto database = service::open_database(program(), values);
  if (database) return service::migrate_command(program(), **database, conversation_migrations());
  fmt::print(stderr, "stackgate-guardrail: {}\n", database.error().message);
  return 1;
}

}  // namespace stackgate::guardrail
