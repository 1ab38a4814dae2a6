#include <string>

#include "services/kit/web/answer.hpp"
#include "services/kit/web/basic_auth.hpp"

namespace stackgate::web {

int status_of(const ServiceError& error) {
  switch (error.fault) {
    case ServiceFault::unauthenticated:
      return 401;
    case ServiceFault::forbidden:
      return 403;
    case ServiceFault::missing:
      return 404;
    case ServiceFault::exists:
      return 409;
    case ServiceFault::too_large:
      return 413;
    case ServiceFault::invalid:
      return 422;
    case ServiceFault::limited:
      return 429;
    case ServiceFault::unavailable:
      return 503;
    case ServiceFault::full:
    case ServiceFault::quota:
      return 507;
    case ServiceFault::body:
      return error.status == 0 ? 400 : error.status;
    case ServiceFault::broken:
      break;
  }
  return 500;
}

Failure to_failure(const ServiceError& error) {
  constexpr std::chrono::seconds usual_pause{5};
  Failure out{.status = status_of(error), .message = error.message, .code = error.code};
  if (error.fault == ServiceFault::unauthenticated)
    out.headers.emplace_back("WWW-Authenticate", basic_challenge("stackgate"));
  if (error.fault == ServiceFault::limited || error.fault == ServiceFault::unavailable) {
    const auto pause = error.retry_after.count() > 0 ? error.retry_after : usual_pause;
    out.headers.emplace_back("Retry-After", std::to_string(pause.count()));
  }
  return out;
}

Answer::Answer(const ServiceError& error) : Answer(to_failure(error)) {}

}  // namespace stackgate::web
