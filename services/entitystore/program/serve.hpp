// The running service, and the commands beside it.
#pragma once
#include <expected>

#include "services/entitystore/registration/fail_point.hpp"
#include "services/kit/datastore_client/datastore.hpp"
#include "services/kit/service/service.hpp"
#include "services/kit/sql/database.hpp"

namespace stackgate::entitystore {

/// `fail`: empty in production.
std::expected<service::Parts, Error> build(const settings::Values& values, metrics::Registry& metrics,
                                           const FailPoint& fail);

/// migrate, fsck; the exit status.
int run_command(const settings::Values& values);

/// `owner`: of the adapters' repositories.
int fsck(sql::Database& database, datastore_client::Datastore& datastore, const std::string& owner);

}  // namespace stackgate::entitystore
