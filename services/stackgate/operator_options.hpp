// What `stackgate operator` is started with: the gate's flags and these.
#pragma once
#include <string>

#include "reconcile/plan/plan.hpp"
#include "services/kit/kube/leader_core.hpp"
#include "services/stackgate/gate_options.hpp"

namespace stackgate {

struct OperatorOptions {
  GateOptions gate;
  bool admission = true;  // serve the webhook, too
  reconcile::Settings settings;
  unsigned reconcile_workers = 8;
  unsigned api_calls_per_second = 1'000;  // 0: as many as there are to make

  bool leader_elect = true;
  std::string lease_name = "stackgate-operator";
  std::string lease_namespace;  // empty: gate.service_namespace
  kube::LeaderTuning leader;
};

/// Serves until SIGTERM or SIGINT; the exit status. Written in operator.cpp.
int run_operator(const OperatorOptions& options);

}  // namespace stackgate
