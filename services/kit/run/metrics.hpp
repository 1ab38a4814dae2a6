// What every process of ours shows on /metrics besides its own families.
#pragma once
#include <functional>
#include <string_view>

#include "services/kit/http/server.hpp"
#include "services/kit/metrics/registry.hpp"

namespace stackgate::run {

/// process_* (CPU, memory, descriptors, start time: the names of the Prometheus client libraries) and
/// log_lost_lines_total.
void add_process_metrics(metrics::Registry& registry);

/// PREFIX_connections_total, _requests_total, … of a server, which must outlive the registry's last render().
void add_server_metrics(metrics::Registry& registry, std::string_view prefix, const http::Server& server);
/// The same of a server that may end earlier. `read` is called from scraping threads.
void add_server_metrics(metrics::Registry& registry, std::string_view prefix,
                        const std::function<http::ServerStats()>& read);

/// What GET /metrics is answered with.
http::Response metrics_answer(const metrics::Registry& registry);
/// GET /metrics. `registry` must outlive the server.
http::Handler metrics_handler(const metrics::Registry& registry);

}  // namespace stackgate::run
