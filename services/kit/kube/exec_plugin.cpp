#include "services/kit/kube/exec_plugin.hpp"

#include <algorithm>
#include <cstring>
#include <vector>

#include <fmt/format.h>

#include "services/kit/base/base64.hpp"
#include "services/kit/base/time.hpp"
#include "services/kit/json/parse.hpp"
#include "services/kit/json/write.hpp"
#include "services/kit/subprocess/process.hpp"

namespace stackgate::kube {
namespace {

constexpr std::size_t most_output = 1U << 20U;

/// KUBERNETES_EXEC_INFO, for the plugin.
std::string exec_info(const Config& config) {
  return json::object_text([&](json::Writer& w) {
    w.member("apiVersion", std::string_view(config.exec.api_version));
    w.member("kind", "ExecCredential");
    w.object("spec", [&] {
      w.member("interactive", false);
      if (!config.exec.provide_cluster_info) return;
      w.object("cluster", [&] {
        w.member("server", std::string_view(config.server));
        if (!config.tls_server_name.empty()) w.member("tls-server-name", std::string_view(config.tls_server_name));
        if (config.insecure_skip_tls_verify) w.member("insecure-skip-tls-verify", true);
        if (!config.ca.text.empty())
          w.member("certificate-authority-data", std::string_view(base64::encode(config.ca.text)));
      });
    });
  });
}

}  // namespace

std::expected<ExecCredential, Error> parse_exec_credential(std::string_view text, std::string_view api_version) {
  json::Document document;
  const auto root = json::parse(text, document);
  if (!root) return std::unexpected(Error{fmt::format("its answer is not JSON: {}", root.error().message)});
  if (json::text_at(*root, "kind") != "ExecCredential" || json::text_at(*root, "apiVersion") != api_version)
    return std::unexpected(Error{fmt::format("its answer is no ExecCredential of {}", api_version)});
  const json::Value* status = root->find("status");
  if (status == nullptr) return std::unexpected(Error{"its answer has no status"});
  ExecCredential out;
  out.token = json::text_at(*status, "token");
  out.client_certificate_pem = json::text_at(*status, "clientCertificateData");
  out.client_key_pem = json::text_at(*status, "clientKeyData");
  if (out.client_certificate_pem.empty() != out.client_key_pem.empty())
    return std::unexpected(Error{"its answer has only one of clientCertificateData and clientKeyData"});
  if (out.token.empty() && out.client_certificate_pem.empty())
    return std::unexpected(Error{"its answer has neither a token nor a client certificate"});
  if (const std::string_view expires = json::text_at(*status, "expirationTimestamp"); !expires.empty()) {
    out.expires = from_rfc3339(expires);
    if (!out.expires) return std::unexpected(Error{fmt::format("expirationTimestamp \"{}\" is no time", expires)});
  }
  return out;
}

std::expected<ExecCredential, Error> run_exec_plugin(const Config& config, std::chrono::milliseconds limit) {
  const ExecPlugin& plugin = config.exec;
  const auto failed = [&](std::string_view why) {
    return std::unexpected(Error{fmt::format("credential plugin {}: {}{}{}", plugin.command, why,
                                             plugin.install_hint.empty() ? "" : "; ", plugin.install_hint)});
  };
  std::vector<std::string> args{plugin.command};
  args.insert(args.end(), plugin.args.begin(), plugin.args.end());
  std::vector<std::string> env = subprocess::own_environment();
  for (const auto& [name, value] : plugin.env) env.push_back(fmt::format("{}={}", name, value));
  env.push_back("KUBERNETES_EXEC_INFO=" + exec_info(config));
  std::ranges::reverse(env);  // the last of a name wins for us, the first for getenv

  auto child = subprocess::Process::start(
      {.arguments = std::move(args), .environment = std::move(env), .errors = subprocess::Errors::inherited});
  if (!child) return failed(std::strerror(child.error().number));
  (*child)->close_input();
  std::string text;
  const auto deadline = std::chrono::steady_clock::now() + limit;
  const auto late = [&] { return std::chrono::steady_clock::now() >= deadline; };
  const bool ended = (*child)->drain(
      [&](std::string_view piece) {
        text += piece;
        return text.size() <= most_output && !late();
      },
      late);
  if (!ended) {
    (*child)->end(std::chrono::seconds(0));
    return failed(text.size() > most_output ? fmt::format("its answer is longer than {} bytes", most_output)
                                            : fmt::format("no answer within {} ms", limit.count()));
  }
  if (const int status = (*child)->wait(); status != 0)
    return failed((*child)->signal() ? fmt::format("killed by signal {}", *(*child)->signal())
                                     : fmt::format("exit status {}", status));
  auto credential = parse_exec_credential(text, plugin.api_version);
  if (!credential) return failed(credential.error().message);
  return credential;
}

}  // namespace stackgate::kube
