// What all requests of one App share. Outlives its server and the tasks of its pool.
#pragma once
#include <memory>
#include <string>

#include "services/kit/run/pool.hpp"
#include "services/kit/web/app.hpp"
#include "services/kit/web/meters.hpp"
#include "services/kit/web/router.hpp"

namespace stackgate::web {

struct Site {
  Site(AppConfig c, Router r, metrics::Registry& registry)
      : config(std::move(c)), router(std::move(r)), meters(registry), pool(config.pool_threads, config.pool_queue) {}

  AppConfig config;
  Router router;
  Meters meters;
  run::Pool pool;  // last: its threads use the rest
};

}  // namespace stackgate::web
