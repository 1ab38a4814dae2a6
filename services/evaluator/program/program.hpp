// stackgate-evaluator as a process: settings in, a server or a command out.
#pragma once
#include <expected>
#include <iosfwd>

#include "services/evaluator/front/front.hpp"
#include "services/kit/base/error.hpp"
#include "services/kit/metrics/registry.hpp"
#include "services/kit/service/service.hpp"
#include "services/kit/settings/settings.hpp"

namespace stackgate::evaluator {

settings::Program program();
/// What one setting has to do with another. Pure.
validate::Findings check_options(const settings::Values& values);

// Of good settings. Pure.

bool wants_validation(const settings::Values& values);
/// What the log lets through: the coarser one of what the evaluator writes and what its console takes.
std::string log_level_of(const settings::Values& values);
WorkflowOptions workflow_options(const settings::Values& values);

/// `fail`: empty in production.
std::expected<service::Parts, Error> build(const settings::Values& values, metrics::Registry& metrics,
                                           const FailPoint& fail);

/// migrate, score, templates; the exit status.
int run_command(const settings::Values& values);
/// Each line of `in` answered with one in `out`; lines without anything in them are passed over. False: `out` takes no
/// more.
bool score_lines(std::istream& in, std::ostream& out);

}  // namespace stackgate::evaluator
