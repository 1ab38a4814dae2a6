// What `stackgate gate` and `stackgate operator` are started with: every flag, each also an environment variable
// STACKGATE_….
#pragma once
#include <string>
#include <vector>

#include "reconcile/plan/plan.hpp"
#include "services/kit/kube/leader_core.hpp"
#include "services/kit/log/log.hpp"
#include "services/kit/settings/variables.hpp"
#include "services/kit/telemetry/options.hpp"
#include "validators/rulebook.hpp"

namespace stackgate {

struct GateOptions {
  std::string listen = "127.0.0.1:9443";
  std::string metrics_listen = "127.0.0.1:8080";
  std::string health_listen = "127.0.0.1:8081";

  // Either both files, or self_managed; the command line sees to that.
  std::string tls_cert;
  std::string tls_key;
  bool self_managed = false;
  std::string service_name = "stackgate-gate";  // for the DNS names of a self-managed certificate
  std::string service_namespace = "stackgate-system";
  std::vector<std::string> webhook_config_names{"stackgate-gate"};  // whose caBundle is kept right

  bool no_cluster = false;  // then nothing of the cluster is read: kubeconfig and context are empty
  std::string kubeconfig;   // empty: found as kubectl and pods do
  std::string context;
  std::vector<std::string> namespaces;  // empty: all

  validate::Options rules;

  std::string log_format;  // "json", "text", or empty: text on a terminal, otherwise json
  log::Level log_level = log::Level::info;
  unsigned workers = 0;  // 0: one per core, at most 4
  unsigned drain_seconds = 5;
  telemetry::Options telemetry;  // OTLP; nothing is exported unless a collector is named

  std::vector<settings::Misspelt> misspelt_variables;  // to be logged
};

/// Serves until SIGTERM or SIGINT; the exit status. Written in gate.cpp.
int run_gate(const GateOptions& options);

/// The gate's flags and these.
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
