// What all requests of one App share. Outlives its server and the tasks of its pools.
#pragma once
#include <memory>
#include <string>

#include "services/kit/run/fair_pool.hpp"
#include "services/kit/run/pool.hpp"
#include "services/kit/web/app.hpp"
#include "services/kit/web/meters.hpp"
#include "services/kit/web/router.hpp"

namespace stackgate::web {

struct Site {
  Site(AppConfig c, Router r, metrics::Registry& registry)
      : config(std::move(c)),
        router(std::move(r)),
        meters(registry),
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
  Meters meters;
  run::Pool pool;  // last, both: their threads use the rest
  run::FairPool transfers;
};

}  // namespace stackgate::web
