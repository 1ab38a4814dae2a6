// What all requests of one App share. Outlives its server and the tasks of its pools.
#pragma once
#include <memory>
#include <string>

#include "services/kit/run/per_client_pool.hpp"
#include "services/kit/run/pool.hpp"
#include "services/kit/run/shares.hpp"
#include "services/kit/web/app.hpp"
#include "services/kit/web/http_metrics.hpp"
#include "services/kit/web/router.hpp"

namespace stackgate::web {

struct AppState {
  AppState(AppConfig c, Router r, metrics::Registry& registry)
      : config(std::move(c)),
        router(std::move(r)),
        metrics(registry),
        deferred(config.deferred,
                 config.deferred_per_share != 0 ? config.deferred_per_share : (config.deferred + 1) / 2),
        pool(config.pool_threads, config.pool_queue),
        transfers({.threads = config.transfer_threads,
                   .per_share = share_of(config),
                   .waiting = config.pool_queue,
                   .waiting_per_share = config.pool_queue / 8 + 1,
                   .patience = config.transfer_wait}) {}
  static unsigned share_of(const AppConfig& config) {
    return config.transfers_per_client != 0 ? config.transfers_per_client : (config.transfer_threads + 1) / 2;
  }

  AppConfig config;
  Router router;
  HttpMetrics metrics;
  run::Shares deferred;
  run::Pool pool;  // last, both: their threads use the rest
  run::PerClientPool transfers;
};

}  // namespace stackgate::web
