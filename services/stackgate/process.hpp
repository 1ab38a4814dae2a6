// What `stackgate gate` and `stackgate operator` have in common: a client, and the plain HTTP servers beside the gate.
#pragma once
#include <expected>
#include <memory>
#include <string_view>

#include "services/kit/base/error.hpp"
#include "services/kit/http/server.hpp"
#include "services/kit/kube/client.hpp"
#include "services/kit/run/readiness.hpp"
#include "services/stackgate/gate_options.hpp"

namespace stackgate {

/// Log, signal mask and limits of a process that serves. First thing it does, before any thread.
void configure_process(const GateOptions& options);

/// Nothing is sent yet; what is odd about the configuration is logged. `command` goes into the user agent.
std::expected<std::unique_ptr<kube::Client>, Error> connect(const GateOptions& options, std::string_view command,
                                                            const kube::ClientOptions& client_options = {});

/// /healthz and /readyz, and /metrics; either may be off by an empty address.
struct Endpoints {
  std::unique_ptr<http::Server> health, metrics;
};
/// `readiness` must outlive them.
std::expected<Endpoints, Error> start_endpoints(const GateOptions& options, const run::Readiness& readiness,
                                                http::Handler metrics);

/// "stackgate gate: message" on standard error; the exit status.
int fail(std::string_view command, std::string_view message);

}  // namespace stackgate
