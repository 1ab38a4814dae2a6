// stackgate-guardrail as a process: settings in, a server or a check out.
#pragma once
#include <expected>

#include "services/guardrail/python/python_actions.hpp"
#include "services/kit/base/error.hpp"
#include "services/kit/metrics/registry.hpp"
#include "services/kit/service/service.hpp"
#include "services/kit/settings/settings.hpp"

namespace stackgate::guardrail {

settings::Program program();
/// What one setting has to do with another. Pure.
validate::Findings check_options(const settings::Values& values);

PythonOptions python_options(const settings::Values& values);
std::expected<service::Parts, Error> build(const settings::Values& values, metrics::Registry& metrics);
/// `migrate`, for init containers, or `check`.
int run_command(const settings::Values& values);
/// `check DIR`: every fault of a folder's configurations on stdout; 0, or 1 when one would not be served.
int check(const settings::Values& values);

}  // namespace stackgate::guardrail
