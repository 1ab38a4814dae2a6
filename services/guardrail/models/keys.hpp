// The key of an endpoint, looked at when it is needed, so that a rotated one counts at once. Never logged.
#pragma once
#include <expected>
#include <string>

#include "services/guardrail/models/client.hpp"

namespace stackgate::guardrail {

/// Empty: the endpoint has none. The error is a sentence that names the file or variable.
std::expected<std::string, std::string> key_of(const ModelEndpoint& endpoint, const ModelClientOptions& options);

}  // namespace stackgate::guardrail
