// What a handler gives back: a response, or a failure that the route's dialect turns into one.
#pragma once
#include <string>
#include <utility>
#include <variant>
#include <vector>

#include "services/kit/findings/finding.hpp"
#include "services/kit/http/message.hpp"

namespace stackgate::web {

using Headers = std::vector<std::pair<std::string, std::string>>;

/// The one error type of every service. Rendered in the route's dialect (errors.hpp); never carries a secret.
struct Failure {
  int status = 500;
  std::string message;  // what is wrong and what to do, one sentence or two
  std::string code{};   // the dialect's own word, when the status does not say it: "EntryNotFound", "model_not_found"
  validate::Findings findings{};  // 422: every fault of the body
  Headers headers{};
};

/// Streamed: the handler has answered through Call::start or Call::send_file.
struct Streamed {};

/// Later: it comes through the Deferred of Call::defer.
struct Later {};

using Answer = std::variant<http::Response, Failure, Streamed, Later>;

}  // namespace stackgate::web
