#include "services/kit/web/app.hpp"

#include <stdexcept>

#include <fmt/format.h>

#include "services/kit/web/live_call.hpp"
#include "services/kit/web/router.hpp"
#include "services/kit/web/site.hpp"

namespace stackgate::web {
namespace app_detail {

constexpr std::uint64_t body_nobody_wants = 64 * 1024;  // read and dropped, so that the connection can go on

http::BodyPlan plan_for(const Site& site, const http::Request& head) {
  const Match match = site.router.match(head.method, head.path);
  http::BodyPlan plan;
  if (match.route == nullptr) {
    plan.body_bytes = body_nobody_wants;
    return plan;
  }
  const RouteOptions& options = match.route->options;
  plan.stream = options.streams_body;
  plan.body_bytes = options.body_bytes;
  plan.pause = options.pause;
  return plan;
}

void serve(Site& site, const http::Request& request, http::Responder responder) {
  Match match = site.router.match(request.method, request.path);
  if (match.route == nullptr || match.route->options.on_io_thread) {
    LiveCall(site, request, std::move(responder), std::move(match)).serve();
    return;
  }
  auto call = std::make_unique<LiveCall>(site, request, std::move(responder), std::move(match));
  LiveCall* const kept = call.get();
  run::Pool::Task task = [call = std::move(call)] { call->serve(); };
  if (site.pool.submit(std::move(task))) return;
  site.meters.refused();
  kept->refuse({503, "too many requests are waiting here; try again in a moment", {}, {}, {{"Retry-After", "1"}}});
}

class RunningApp final : public App {
 public:
  RunningApp(std::unique_ptr<metrics::Registry> own, std::unique_ptr<Site> site, std::unique_ptr<http::Server> server)
      : own_(std::move(own)), site_(std::move(site)), server_(std::move(server)) {}
  // Connections go first, so that handlers that wait for a peer wake up; then the pool is waited for.
  ~RunningApp() override = default;
  std::uint16_t port() const override { return server_->port(); }
  http::Server& server() override { return *server_; }

 private:
  std::unique_ptr<metrics::Registry> own_;
  std::unique_ptr<Site> site_;
  std::unique_ptr<http::Server> server_;
};

std::optional<Error> contradiction(const Route& route) {
  if (route.options.on_io_thread && route.options.streams_body)
    return Error{fmt::format("route {} {}: a streamed body is read on the pool, not on the I/O thread", route.method,
                             route.pattern)};
  return {};
}

}  // namespace app_detail

std::expected<std::unique_ptr<App>, Error> App::start(AppConfig config, std::vector<Route> routes) {
  for (const Route& route : routes) {
    if (auto error = app_detail::contradiction(route)) return std::unexpected(std::move(*error));
  }
  auto router = Router::compile(std::move(routes));
  if (!router) return std::unexpected(std::move(router.error()));
  if (config.pool_threads == 0) return std::unexpected(Error{"a service needs at least one pool thread"});
  std::unique_ptr<metrics::Registry> own;
  if (config.metrics == nullptr) {
    own = std::make_unique<metrics::Registry>();
    config.metrics = own.get();
  }
  metrics::Registry& registry = *config.metrics;
  auto site = std::make_unique<Site>(std::move(config), std::move(*router), registry);
  http::ServerConfig server_config = site->config.server;
  server_config.body_policy = [kept = site.get()](const http::Request& head) {
    return app_detail::plan_for(*kept, head);
  };
  // The site outlives the server: RunningApp holds both, and connections hold none of this once the server is gone.
  auto server = http::Server::start(std::move(server_config),
                                    [kept = site.get()](const http::Request& request, http::Responder responder) {
                                      app_detail::serve(*kept, request, std::move(responder));
                                    });
  if (!server) return std::unexpected(std::move(server.error()));
  return std::make_unique<app_detail::RunningApp>(std::move(own), std::move(site), std::move(*server));
}

}  // namespace stackgate::web
