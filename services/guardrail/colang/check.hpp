// What can be said about a whole program: names that there are not, loops that do not end.
#pragma once
#include "services/guardrail/colang/report.hpp"

namespace stackgate::guardrail::colang {

/// Gives calls their targets, and reports.
void check(Program& program, const KnownNames& names, Report& report);

}  // namespace stackgate::guardrail::colang
