// What the registry shows of a running server and its pools. Registries may be read after the App has ended (the last
// export of telemetry): they see the last figures then. Thread-safe.
#pragma once
#include <memory>
#include <mutex>

#include "services/kit/http/server.hpp"
#include "services/kit/metrics/registry.hpp"
#include "services/kit/web/app_state.hpp"

namespace stackgate::web {

class ServerMetrics {
 public:
  /// stackgate_http_server_… and stackgate_http_pool_… from now on. Both must live until stop().
  static std::shared_ptr<ServerMetrics> show(metrics::Registry& registry, const http::Server& server,
                                             const AppState& state);
  void stop();

 private:
  ServerMetrics(const http::Server& server, const AppState& state) : server_(&server), state_(&state) {}
  http::ServerStats stats();
  run::Pool::Load load(bool transfers);
  double deferred();

  std::mutex mutex_;
  const http::Server* server_;  // null: it has ended
  const AppState* state_;
  http::ServerStats last_{};
};

}  // namespace stackgate::web
