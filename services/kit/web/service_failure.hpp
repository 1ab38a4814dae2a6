// The one place where a service's error gets its HTTP status.
#pragma once
#include "services/kit/base/service_error.hpp"
#include "services/kit/web/answer.hpp"

namespace stackgate::web {

int status_of(const ServiceError& error);

/// With WWW-Authenticate for 401 and Retry-After for 429 and 503.
Failure to_failure(const ServiceError& error);

}  // namespace stackgate::web
