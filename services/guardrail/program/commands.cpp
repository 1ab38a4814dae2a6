#include "services/guardrail/memory/conversations.hpp"
#include "services/guardrail/program/program.hpp"
#include "services/kit/service/database.hpp"

namespace stackgate::guardrail {

int run_command(const settings::Values& values) {
  return values.command() == "migrate" ? service::migrate_command(program(), values, conversation_migrations())
                                       : check(values);
}

}  // namespace stackgate::guardrail
