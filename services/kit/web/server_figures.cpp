#include "services/kit/web/server_figures.hpp"

#include "services/kit/run/metrics.hpp"

namespace stackgate::web {

std::shared_ptr<ServerFigures> ServerFigures::show(metrics::Registry& registry, const http::Server& server,
                                                   const Site& site) {
  const std::shared_ptr<ServerFigures> self(new ServerFigures(server, site));
  run::add_server_metrics(registry, "stackgate_http_server", [self] { return self->stats(); });
  const auto gauge = [&](std::string_view name, std::string_view help, bool transfers, auto member) {
    registry.gauge_from(name, help,
                        [self, transfers, member] { return static_cast<double>(self->load(transfers).*member); });
  };
  using Load = run::FairPool::Load;
  registry.gauge("stackgate_http_pool_threads", "Requests that may work at the same time; transfers apart.")
      .at()
      .set(site.config.pool_threads);
  gauge("stackgate_http_pool_running", "Requests that work now, but for transfers.", false, &Load::running);
  gauge("stackgate_http_pool_waiting", "Requests that wait for a thread.", false, &Load::waiting);
  registry.gauge("stackgate_http_transfer_threads", "Uploads and downloads that may be under way at the same time.")
      .at()
      .set(site.config.transfer_threads);
  registry.gauge("stackgate_http_transfers_per_client", "Of them those of one client address.")
      .at()
      .set(Site::share_of(site.config));
  gauge("stackgate_http_transfers_running", "Uploads and downloads under way.", true, &Load::running);
  gauge("stackgate_http_transfers_waiting", "Uploads and downloads that wait for their turn.", true, &Load::waiting);
  return self;
}

void ServerFigures::stop() {
  const std::lock_guard lock(mutex_);
  if (server_ != nullptr) last_ = server_->stats();
  server_ = nullptr;
  site_ = nullptr;
}

http::ServerStats ServerFigures::stats() {
  const std::lock_guard lock(mutex_);
  return server_ == nullptr ? last_ : server_->stats();
}

run::FairPool::Load ServerFigures::load(bool transfers) {
  const std::lock_guard lock(mutex_);
  if (site_ == nullptr) return {};
  if (transfers) return site_->transfers.load();
  const run::Pool::Load load = site_->pool.load();
  return {load.running, load.waiting};
}

}  // namespace stackgate::web
