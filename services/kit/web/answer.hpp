// What a handler gives back: a response, or a failure that the route's dialect turns into one.
#pragma once
#include <concepts>
#include <expected>
#include <string>
#include <utility>
#include <variant>
#include <vector>

#include "services/kit/base/service_error.hpp"
#include "services/kit/findings/finding.hpp"
#include "services/kit/http/message.hpp"

namespace stackgate::web {

using Headers = std::vector<std::pair<std::string, std::string>>;

/// The one error type of every service. Rendered in the route's dialect (errors.hpp); never carries a secret.
struct Failure {
  int status = 500;
  std::string message;  // what is wrong and what to do, one sentence or two
  std::string code{};   // the dialect's own word, where the status is not enough: "EntryNotFound", "model_not_found"
  validate::Findings findings{};  // 422: every fault of the body
  Headers headers{};
  std::string type{};  // openai: the kind of error, where clients know another word than the status' own
};

/// The HTTP status of a service's error: this is the one place that knows it (service_failure.cpp).
int status_of(const ServiceError& error);
/// With WWW-Authenticate for 401 and Retry-After for 429 and 503.
Failure to_failure(const ServiceError& error);

/// Streamed: the handler has answered through Call::start.
struct Streamed {};

/// Later: it comes through the Deferred of Call::defer.
struct Later {};

/// TRY() in a handler passes on what went wrong: a Failure, or the error of a service with its status.
struct Answer : std::variant<http::Response, Failure, Streamed, Later> {
  using variant::variant;
  Answer(const ServiceError& error);
  template <class Error>
    requires std::constructible_from<Answer, Error>
  Answer(std::unexpected<Error> failed) : Answer(std::move(failed).error()) {}
};

}  // namespace stackgate::web
