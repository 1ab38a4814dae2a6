#include "services/kit/web/server_metrics.hpp"

#include "services/kit/run/metrics.hpp"

namespace stackgate::web {

std::shared_ptr<ServerMetrics> ServerMetrics::show(metrics::Registry& registry, const http::Server& server,
                                                   const AppState& state) {
  const std::shared_ptr<ServerMetrics> self(new ServerMetrics(server, state));
  run::add_server_metrics(registry, "stackgate_http_server", [self] { return self->stats(); });
  const auto gauge = [&](std::string_view name, std::string_view help, bool transfers, auto member) {
    registry.gauge_from(name, help,
                        [self, transfers, member] { return static_cast<double>(self->load(transfers).*member); });
  };
  using Load = run::Pool::Load;
  registry.gauge("stackgate_http_pool_threads", "Requests that may work at the same time; transfers apart.")
      .at()
      .set(state.config.pool_threads);
  gauge("stackgate_http_pool_running", "Requests that work now, but for transfers.", false, &Load::running);
  gauge("stackgate_http_pool_waiting", "Requests that wait for a thread.", false, &Load::waiting);
  registry.gauge("stackgate_http_transfer_threads", "Uploads and downloads that may be under way at the same time.")
      .at()
      .set(state.config.transfer_threads);
  registry.gauge("stackgate_http_transfers_per_client", "Of them those of one client address.")
      .at()
      .set(AppState::share_of(state.config));
  gauge("stackgate_http_transfers_running", "Uploads and downloads under way.", true, &Load::running);
  gauge("stackgate_http_transfers_waiting", "Uploads and downloads that wait for their turn.", true, &Load::waiting);
  registry.gauge_from("stackgate_http_deferred", "Answers that are waited for without a thread.",
                      [self] { return self->deferred(); });
  return self;
}

void ServerMetrics::stop() {
  const std::lock_guard lock(mutex_);
  if (server_ != nullptr) last_ = server_->stats();
  server_ = nullptr;
  state_ = nullptr;
}

http::ServerStats ServerMetrics::stats() {
  const std::lock_guard lock(mutex_);
  return server_ == nullptr ? last_ : server_->stats();
}

double ServerMetrics::deferred() {
  const std::lock_guard lock(mutex_);
  return state_ == nullptr ? 0 : static_cast<double>(state_->deferred.taken());
}

run::Pool::Load ServerMetrics::load(bool transfers) {
  const std::lock_guard lock(mutex_);
  if (state_ == nullptr) return {};
  return transfers ? state_->transfers.load() : state_->pool.load();
}

}  // namespace stackgate::web
