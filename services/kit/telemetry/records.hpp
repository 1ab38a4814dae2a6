// From what happened to what is exported, by the semantic conventions for HTTP
// (https://opentelemetry.io/docs/specs/semconv/http/http-spans/, stable). Pure but for the clock of log records.
#pragma once
#include <optional>
#include <span>
#include <string>
#include <string_view>

#include "services/kit/http_client/client.hpp"
#include "services/kit/log/log.hpp"
#include "services/kit/telemetry/data.hpp"
#include "services/kit/web/app.hpp"

namespace stackgate::telemetry {

/// "https://host:8000/path?query", as patterns of excluded URLs expect it.
std::string url_of(const http::Request& request, bool tls);

/// Of a request that was served. Values of parameters that sound like secrets are left out of url.query, as in the
/// access log.
Span server_span(const web::Served& served, bool tls);

/// Of a call that a service made.
Span client_span(const http_client::Traced& call);

/// Belongs to `trace`, if there is one.
LogRecord log_record(log::Level level, std::string_view message, std::span<const log::Field> fields,
                     const CurrentTrace* trace, Time at);

}  // namespace stackgate::telemetry
