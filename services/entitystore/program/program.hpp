// The running service, the commands beside it, and the settings of both.
#pragma once
#include <expected>

#include "services/entitystore/api/api.hpp"
#include "services/kit/datastore_client/datastore.hpp"
#include "services/kit/service/service.hpp"
#include "services/kit/settings/settings.hpp"
#include "services/kit/sql/database.hpp"

namespace stackgate::entitystore {

/// `fail`: empty in production.
std::expected<service::Parts, Error> build(const settings::Values& values, metrics::Registry& metrics,
                                           const FailPoint& fail);

/// migrate, fsck; the exit status.
int run_command(const settings::Values& values);
/// Prints why a command ends, and is its exit status.
int failed(std::string_view message);

/// `owner`: of the adapters' repositories.
int fsck(sql::Database& database, datastore_client::Datastore& datastore, const std::string& owner);

// --- Settings (options.cpp) ---

settings::Program program();
validate::Findings check_options(const settings::Values& values);

DatastoreOptions datastore_options(const settings::Values& values);
RegistrarOptions registrar_options(const settings::Values& values);

}  // namespace stackgate::entitystore
