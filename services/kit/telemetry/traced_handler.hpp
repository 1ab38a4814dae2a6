// Spans for a server that is no web::App: a handler of kit/http with its requests shown to Telemetry.
#pragma once
#include <string_view>
#include <vector>

#include "services/kit/http/server.hpp"
#include "services/kit/telemetry/telemetry.hpp"

namespace stackgate::telemetry {

/// `handler` itself when no traces are exported. Otherwise each request continues its caller's trace, log lines of the
/// handler's own thread belong to it, and its span ends with the answer. `routes`: paths that name spans; others are
/// "unmatched". For answers in one piece. `telemetry` must outlive the server.
http::Handler traced(http::Handler handler, Telemetry& telemetry, std::vector<std::string_view> routes);

}  // namespace stackgate::telemetry
