#include <cstdlib>
#include <filesystem>
#include <fstream>

#include <fmt/format.h>

#include "services/kit/kube/config.hpp"

namespace stackgate::kube {
namespace {

std::string environment(const char* name) {
  const char* value = std::getenv(name);
  return value == nullptr ? std::string{} : std::string(value);
}

}  // namespace

std::expected<Config, Error> in_cluster(const std::string& directory) {
  const std::string host = environment("KUBERNETES_SERVICE_HOST");
  std::string port = environment("KUBERNETES_SERVICE_PORT");
  if (host.empty()) return std::unexpected(Error{"not inside a pod: KUBERNETES_SERVICE_HOST is not set"});
  if (port.empty()) port = "443";
  Config out;
  out.source = "in-cluster";
  out.server = host.find(':') == std::string::npos ? fmt::format("https://{}:{}", host, port)
                                                   : fmt::format("https://[{}]:{}", host, port);
  out.ca.file = directory + "/ca.crt";
  out.token_file = directory + "/token";
  for (const std::string& file : {out.ca.file, out.token_file})
    if (!std::ifstream(file))
      return std::unexpected(Error{
          fmt::format("{} cannot be read: give the pod a service account with automountServiceAccountToken", file)});
  std::ifstream in(directory + "/namespace");
  if (std::string ns; in >> ns) out.ns = ns;
  return out;
}

std::expected<Config, Error> find_config(std::string_view kubeconfig, std::string_view context) {
  if (!kubeconfig.empty()) return load_kubeconfig(kubeconfig, context);
  if (const std::string files = environment("KUBECONFIG"); !files.empty()) return load_kubeconfig(files, context);
  if (!environment("KUBERNETES_SERVICE_HOST").empty()) return in_cluster();
  const std::string home = environment("HOME");
  const std::string file = home + "/.kube/config";
  if (std::error_code ignored; !home.empty() && std::filesystem::exists(file, ignored))
    return load_kubeconfig(file, context);
  return std::unexpected(Error{
      "no cluster is configured: give --kubeconfig FILE, set KUBECONFIG, or run inside a pod with a service account"});
}

}  // namespace stackgate::kube
