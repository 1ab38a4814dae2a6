// How to reach an API server: from a kubeconfig, or from inside a pod.
// Sources: https://kubernetes.io/docs/reference/config-api/kubeconfig.v1/,
//          https://kubernetes.io/docs/tasks/run-application/access-api-from-pod/
#pragma once
#include <expected>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "services/kit/base/error.hpp"
#include "services/kit/http_client/exchange.hpp"

namespace stackgate::kube {

using http_client::Pem;

/// A program that hands out credentials (client.authentication.k8s.io/v1 or v1beta1).
struct ExecPlugin {
  std::string api_version;
  std::string command;  // with a slash: a path; without: looked for on PATH
  std::vector<std::string> args;
  std::vector<std::pair<std::string, std::string>> env;
  std::string install_hint;
  bool provide_cluster_info = false;
};

struct Config {
  std::string server;           // "https://10.0.0.1:6443", without a slash at the end; a path prefix may follow
  std::string tls_server_name;  // the name in the server's certificate where it differs from the host
  std::string proxy_url;
  Pem ca;  // empty: the system's own roots
  bool insecure_skip_tls_verify = false;

  Pem client_certificate, client_key;
  std::string token;
  std::string token_file;  // read again as it rotates; wins over `token`
  std::string username, password;
  ExecPlugin exec;  // in use when its command is set

  std::string user_agent = "stackgate";  // by which audit logs and limits know the process

  std::string ns = "default";         // of the context, or of the pod
  std::string source;                 // for messages: "/home/a/.kube/config, context lab" or "in-cluster"
  std::vector<std::string> warnings;  // what the user should know: print or log them once
};

/// The kubeconfig `text`. `directory` is what relative file names in it start from. An empty `context` means its
/// current-context.
std::expected<Config, Error> parse_kubeconfig(std::string_view text, std::string_view directory,
                                              std::string_view context = {});

/// One file, or several joined with ':' as in $KUBECONFIG: the first that names a cluster, user or context wins;
/// missing files of several are passed over.
std::expected<Config, Error> load_kubeconfig(std::string_view files, std::string_view context = {});

/// Inside a pod: $KUBERNETES_SERVICE_HOST and the mounted service account.
std::expected<Config, Error> in_cluster(const std::string& directory = "/var/run/secrets/kubernetes.io/serviceaccount");

/// `kubeconfig` when not empty, otherwise $KUBECONFIG, otherwise the pod's own, otherwise ~/.kube/config.
std::expected<Config, Error> find_config(std::string_view kubeconfig, std::string_view context = {});

}  // namespace stackgate::kube
