#include "services/kit/web/app.hpp"

#include <algorithm>

#include <fmt/format.h>

#include "services/kit/base/try.hpp"
#include "services/kit/http/server.hpp"
#include "services/kit/web/app_state.hpp"
#include "services/kit/web/errors.hpp"
#include "services/kit/web/request_record.hpp"
#include "services/kit/web/router.hpp"
#include "services/kit/web/server_metrics.hpp"

namespace stackgate::web {
namespace app_detail {

/// Requests that the server below ends itself (a malformed head, a body too large or too slow), answered as
/// the App answers all others: in the dialect of their route, with an id, in the log and in the figures.
/// On the I/O thread.
http::Response answer_fault(AppState& state, const http::Fault& fault) {
  http::Request unread;
  unread.peer = fault.peer;
  const http::Request& request = fault.request != nullptr ? *fault.request : unread;
  const Match match = fault.request != nullptr ? state.router.match(request.method, request.path) : Match{};
  RequestRecord record = begin_record(request, match.route, state.config);
  record.at -= std::chrono::duration_cast<std::chrono::steady_clock::duration>(fault.took);
  record.began -= std::chrono::duration_cast<std::chrono::system_clock::duration>(fault.took);
  state.metrics.arrived();
  http::Response response = render({fault.status, std::string(fault.reason)}, match.dialect,
                                   {.request_id = record.request_id, .documentation = state.config.documentation_url});
  add_common_headers(response, record.request_id);
  finish_record(record, {fault.status, response.body.size()}, state.metrics, state.config);
  return response;
}

constexpr std::uint64_t body_nobody_wants = 64 * 1024;  // read and dropped, so that the connection can go on

/// What counts as progress within `pause`: see AppConfig::min_rate.
std::uint64_t least_progress(std::uint64_t min_rate, std::chrono::milliseconds pause) {
  const auto counted = std::min<std::chrono::milliseconds>(pause, std::chrono::seconds(30));
  return std::max<std::uint64_t>(1, min_rate * static_cast<std::uint64_t>(counted.count()) / 1000);
}

http::BodyPlan plan_for(const AppState& state, const http::Request& head) {
  const Match match = state.router.match(head.method, head.path);
  http::BodyPlan plan;
  if (match.route == nullptr) {
    plan.body_bytes = body_nobody_wants;
    return plan;
  }
  const RouteOptions& options = match.route->options;
  plan.stream = options.streams_body;
  plan.body_bytes = options.body_bytes;
  plan.body = options.body_deadline;
  plan.pause = options.pause;
  plan.progress = options.progress != 0 ? options.progress : least_progress(state.config.min_rate, options.pause);
  return plan;
}

Placement::Where usual_place(const RouteOptions& options) {
  if (options.on_io_thread) return Placement::Where::io_thread;
  return options.transfer || options.streams_body ? Placement::Where::transfers : Placement::Where::pool;
}

std::optional<Error> contradiction(const Route& route) {
  if (route.options.on_io_thread && (route.options.streams_body || route.options.transfer))
    return Error{
        fmt::format("route {} {}: bodies stream on a pool, not on the I/O thread", route.method, route.pattern)};
  return {};
}

}  // namespace app_detail

void App::serve(AppState& state, const http::Request& request, http::Responder responder) {
  Match match = state.router.match(request.method, request.path);
  const Route* const route = match.route;
  auto call = std::make_shared<Call>(state, request, std::move(responder), std::move(match));
  if (route == nullptr) return call->serve();
  Placement::Where where = app_detail::usual_place(route->options);
  if (route->place) {
    const auto placement = call->place();
    if (!placement) return;
    where = placement->where;
  }
  switch (where) {
    case Placement::Where::io_thread:
      return call->serve();
    case Placement::Where::pool:
      if (state.pool.submit([call] { call->serve(); })) return;
      state.metrics.refused_request();
      return call->refuse(busy("too many requests are waiting here", 1));
    case Placement::Where::transfers: {
      // The share is read before the job waits; the head's views hold until the answer.
      const std::string& share = call->share();
      auto refused = state.transfers.submit(share, [&state, call = std::move(call)](bool runs) {
        if (runs) return call->serve();
        state.metrics.refused_transfer();
        call->refuse(busy("too many uploads and downloads are under way, of this client or of all", 5));
      });
      if (refused) refused(false);
    }
  }
}

App::App(std::unique_ptr<metrics::Registry> own, std::unique_ptr<AppState> state, std::unique_ptr<http::Server> server)
    : own_(std::move(own)),
      state_(std::move(state)),
      server_(std::move(server)),
      server_metrics_(ServerMetrics::show(*state_->config.metrics, *server_, *state_)) {}

// Connections go first, so that handlers that wait for a peer wake up; then the pools are waited for.
App::~App() { server_metrics_->stop(); }

std::expected<std::unique_ptr<App>, Error> App::start(AppConfig config, std::vector<Route> routes) {
  for (const Route& route : routes) {
    if (auto error = app_detail::contradiction(route)) return std::unexpected(std::move(*error));
  }
  auto router = TRY(Router::compile(std::move(routes)));
  if (config.pool_threads == 0 || config.transfer_threads == 0)
    return std::unexpected(Error{"a service needs at least one thread for requests and one for transfers"});
  std::unique_ptr<metrics::Registry> own;
  if (config.metrics == nullptr) {
    own = std::make_unique<metrics::Registry>();
    config.metrics = own.get();
  }
  metrics::Registry& registry = *config.metrics;
  auto state = std::make_unique<AppState>(std::move(config), std::move(router), registry);
  http::ServerConfig server_config = state->config.server;
  server_config.body_policy = [kept = state.get()](const http::Request& head) {
    return app_detail::plan_for(*kept, head);
  };
  server_config.fault_answer = [kept = state.get()](const http::Fault& fault) {
    return app_detail::answer_fault(*kept, fault);
  };
  server_config.limits.write_progress = app_detail::least_progress(state->config.min_rate, server_config.limits.write);
  // The state outlives the server: the App holds both, and connections hold none of this once the server is gone.
  auto server = TRY(http::Server::start(std::move(server_config),
                                        [kept = state.get()](const http::Request& request, http::Responder responder) {
                                          serve(*kept, request, std::move(responder));
                                        }));
  return std::unique_ptr<App>(new App(std::move(own), std::move(state), std::move(server)));
}

}  // namespace stackgate::web
