// An object store's error as a service's.
#pragma once
#include "services/kit/base/service_error.hpp"
#include "services/kit/objects/store.hpp"

namespace stackgate::objects {

/// Logs the cause of what is not the client's affair.
ServiceError to_service_error(const StoreError& error);

}  // namespace stackgate::objects
