// Why a service could not do what it was asked, from the lowest layer to the answer: databases and object stores give
// it, handlers pass it on, kit/web gives it its HTTP status (web::to_failure).
#pragma once
#include <chrono>
#include <cstdint>
#include <string>

namespace stackgate {

enum class ServiceFault : std::uint8_t {
  unauthenticated,  // 401: credentials that are none, or not these
  forbidden,        // 403
  missing,          // 404
  exists,           // 409
  too_large,        // 413: above the limit of one thing
  invalid,          // 422: the client's, where the body's schema could not say so
  limited,          // 429: too many tries; wait
  broken,           // 500: ours; the log says why
  unavailable,      // 503: a database or a store is away or busy; may be tried again
  full,             // 507: no space left
  quota,            // 507: a share is used up
  body,             // the client's body ended early; `status` is what it deserves (0: it is gone)
};

struct ServiceError {
  ServiceFault fault = ServiceFault::broken;
  std::string message;                  // for the client: holds no secret, and no cause that is only for the log
  std::chrono::seconds retry_after{0};  // limited, unavailable; 0: the default
  int status = 0;                       // body only
  std::string code{};                   // an API's own word: "RepoNotFound"
};

}  // namespace stackgate
