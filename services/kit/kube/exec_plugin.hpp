// Runs a credential plugin. Source: https://kubernetes.io/docs/reference/access-authn-authz/authentication/
// (client-go credential plugins).
#pragma once
#include <chrono>
#include <expected>
#include <optional>
#include <string>
#include <string_view>

#include "services/kit/base/error.hpp"
#include "services/kit/kube/config.hpp"

namespace stackgate::kube {

struct ExecCredential {
  std::string token;
  std::string client_certificate_pem, client_key_pem;
  std::optional<std::chrono::system_clock::time_point> expires;
};

/// The plugin's answer. Pure.
std::expected<ExecCredential, Error> parse_exec_credential(std::string_view text, std::string_view api_version);

/// Starts the plugin and waits for its answer, at most `limit`; then it is killed. Its stderr goes to ours.
/// Blocking; from any thread.
std::expected<ExecCredential, Error> run_exec_plugin(const Config& config, std::chrono::milliseconds limit);

}  // namespace stackgate::kube
