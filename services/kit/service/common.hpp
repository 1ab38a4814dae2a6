// What the settings that all services share mean. Pure but for the log, and for a look at certificate and key.
#pragma once
#include <optional>

#include "services/kit/findings/finding.hpp"
#include "services/kit/http/server.hpp"
#include "services/kit/run/stop.hpp"
#include "services/kit/settings/settings.hpp"

namespace stackgate::service {

/// Whether the command is the one that serves.
bool serves(const settings::Program& program, const settings::Values& values);
/// The faults that no single setting has: a certificate without its key or that cannot be read, a database URL with a
/// password.
validate::Findings check_common(const settings::Program& program, const settings::Values& values);

/// Of a service with settings datastore-username and datastore-password: one without the other.
std::optional<validate::Finding> missing_datastore_credential(const settings::Values& values);

run::DrainPlan drain_plan(const settings::Values& values);

}  // namespace stackgate::service
