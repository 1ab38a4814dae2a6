// What the registry shows of a running server and its pools. Registries may be read after the App has ended (the last
// export of telemetry): they see the last figures then. Thread-safe.
#pragma once
#include <memory>
#include <mutex>

#include "services/kit/http/server.hpp"
#include "services/kit/metrics/registry.hpp"
#include "services/kit/web/site.hpp"

namespace stackgate::web {

class ServerFigures {
 public:
  /// stackgate_http_server_… and stackgate_http_pool_… from now on. Both must live until stop().
  static std::shared_ptr<ServerFigures> show(metrics::Registry& registry, const http::Server& server, const Site& site);
  void stop();

 private:
  ServerFigures(const http::Server& server, const Site& site) : server_(&server), site_(&site) {}
  http::ServerStats stats();
  run::FairPool::Load load(bool transfers);

  std::mutex mutex_;
  const http::Server* server_;  // null: it has ended
  const Site* site_;
  http::ServerStats last_{};
};

}  // namespace stackgate::web
