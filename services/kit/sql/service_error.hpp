// A database's error as a service's.
#pragma once
#include "services/kit/base/service_error.hpp"
#include "services/kit/sql/database.hpp"

namespace stackgate::sql {

/// Logs the cause, which is kept from the client. `duplicate` and `refers` mean something to the caller that wrote the
/// statement; here they are `broken`.
ServiceError to_service_error(const SqlError& error);

}  // namespace stackgate::sql
