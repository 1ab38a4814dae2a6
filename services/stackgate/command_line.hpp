// From argv and the environment to plain options: which command, and what its settings (command_tables.hpp) mean to it.
#pragma once
#include <variant>

#include "services/stackgate/console.hpp"
#include "services/stackgate/crds_command.hpp"
#include "services/stackgate/plan/plan_command.hpp"
#include "services/stackgate/rules_command.hpp"
#include "services/stackgate/serve_options.hpp"
#include "services/stackgate/validate/validate.hpp"

namespace stackgate {

/// Help or a complaint has been printed, nothing is left to do.
struct Finished {
  int exit_status = 0;
};
struct VersionOptions {};

using Command = std::variant<Finished, VersionOptions, GateOptions, OperatorOptions, ValidateOptions, PlanOptions,
                             RulesOptions, CrdsOptions>;

/// What the command line asks for; environment variables fill in what it leaves open. Wrong use finishes with 2.
Command parse_command_line(int argc, const char* const* argv, const Console& console);

}  // namespace stackgate
