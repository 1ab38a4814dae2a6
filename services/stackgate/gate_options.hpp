// The flags of `stackgate gate`; command_line.cpp fills them from argv and STACKGATE_… variables.
#pragma once
#include <chrono>
#include <string>
#include <vector>

#include "services/kit/log/log.hpp"
#include "validators/rulebook.hpp"

namespace stackgate::cli {

struct GateOptions {
  std::string listen = "127.0.0.1:9443";
  std::string metrics_listen = "127.0.0.1:8080";  // empty: none
  std::string health_listen = "127.0.0.1:8081";   // empty: none

  std::string tls_cert, tls_key;   // --tls-cert, --tls-key
  bool self_managed_certs = false;  // --certs self-managed
  std::string service_name = "stackgate-gate";
  std::string service_namespace = "stackgate-system";
  std::string certificate_secret = "stackgate-webhook-cert";
  std::vector<std::string> webhook_config_names{"stackgate-gate"};
  std::string webhook_url;  // for tests: names in the certificate beside the Service's

  bool no_cluster = false;
  std::string kubeconfig, context;
  std::vector<std::string> namespaces;  // empty: all

  validate::References references = validate::References::deny;
  validate::References other_references = validate::References::warn;
  std::vector<std::string> gpu_resources;

  unsigned workers = 0;  // event loops; 0: one per core, at most 4
  std::chrono::seconds drain{5};
  log::Format log_format = log::default_format(2);
  log::Level log_level = log::Level::info;
};

/// Serves until SIGTERM or SIGINT. Returns the exit code; says on standard error why it could not start.
int run_gate(const GateOptions& options);

}  // namespace stackgate::cli
