#include "services/kit/kube/exec_plugin.hpp"

#include <cerrno>
#include <cstring>
#include <vector>

#include <fcntl.h>
#include <fmt/format.h>
#include <poll.h>
#include <signal.h>
#include <spawn.h>
#include <sys/wait.h>
#include <unistd.h>

#include "services/kit/base/base64.hpp"
#include "services/kit/base/time.hpp"
#include "services/kit/json/parse.hpp"
#include "services/kit/json/write.hpp"

extern char** environ;

namespace stackgate::kube {
namespace {

constexpr std::size_t most_output = 1U << 20U;

std::string_view exec_text(const json::Value& object, std::string_view key) {
  const json::Value* value = object.find(key);
  return value == nullptr ? std::string_view{} : value->string();
}

/// What KUBERNETES_EXEC_INFO tells the plugin.
std::string exec_info(const Config& config) {
  std::string out;
  json::Writer w(out);
  w.object([&] {
    w.member("apiVersion", std::string_view(config.exec.api_version));
    w.member("kind", "ExecCredential");
    w.key("spec");
    w.object([&] {
      w.member("interactive", false);
      if (!config.exec.provide_cluster_info) return;
      w.key("cluster");
      w.object([&] {
        w.member("server", std::string_view(config.server));
        if (!config.tls_server_name.empty()) w.member("tls-server-name", std::string_view(config.tls_server_name));
        if (config.insecure_skip_tls_verify) w.member("insecure-skip-tls-verify", true);
        if (!config.ca.text.empty())
          w.member("certificate-authority-data", std::string_view(base64::encode(config.ca.text)));
      });
    });
  });
  return out;
}

}  // namespace

std::expected<ExecCredential, Error> parse_exec_credential(std::string_view text, std::string_view api_version) {
  json::Document document;
  const auto root = json::parse(text, document);
  if (!root) return std::unexpected(Error{fmt::format("its answer is not JSON: {}", root.error().message)});
  if (exec_text(*root, "kind") != "ExecCredential" || exec_text(*root, "apiVersion") != api_version)
    return std::unexpected(Error{fmt::format("its answer is no ExecCredential of {}", api_version)});
  const json::Value* status = root->find("status");
  if (status == nullptr) return std::unexpected(Error{"its answer has no status"});
  ExecCredential out;
  out.token = exec_text(*status, "token");
  out.client_certificate_pem = exec_text(*status, "clientCertificateData");
  out.client_key_pem = exec_text(*status, "clientKeyData");
  if (out.client_certificate_pem.empty() != out.client_key_pem.empty())
    return std::unexpected(Error{"its answer has only one of clientCertificateData and clientKeyData"});
  if (out.token.empty() && out.client_certificate_pem.empty())
    return std::unexpected(Error{"its answer has neither a token nor a client certificate"});
  if (const std::string_view expires = exec_text(*status, "expirationTimestamp"); !expires.empty()) {
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
  std::vector<std::string> env;
  for (char** each = environ; *each != nullptr; ++each) env.emplace_back(*each);
  for (const auto& [name, value] : plugin.env) env.push_back(fmt::format("{}={}", name, value));
  env.push_back("KUBERNETES_EXEC_INFO=" + exec_info(config));
  std::vector<char*> argv, envp;
  for (std::string& each : args) argv.push_back(each.data());
  // The last of a name wins for us, the first for getenv: hand the plugin its own first.
  for (auto each = env.rbegin(); each != env.rend(); ++each) envp.push_back(each->data());
  argv.push_back(nullptr);
  envp.push_back(nullptr);

  int out[2];
  if (pipe2(out, O_CLOEXEC) != 0) return failed(std::strerror(errno));
  posix_spawn_file_actions_t actions;
  posix_spawn_file_actions_init(&actions);
  posix_spawn_file_actions_addopen(&actions, 0, "/dev/null", O_RDONLY, 0);
  posix_spawn_file_actions_adddup2(&actions, out[1], 1);
  pid_t pid = 0;
  const int spawned = posix_spawnp(&pid, plugin.command.c_str(), &actions, nullptr, argv.data(), envp.data());
  posix_spawn_file_actions_destroy(&actions);
  close(out[1]);
  if (spawned != 0) {
    close(out[0]);
    return failed(std::strerror(spawned));
  }

  std::string text;
  const auto deadline = std::chrono::steady_clock::now() + limit;
  bool in_time = true;
  for (char chunk[4096];;) {
    const auto left = std::chrono::ceil<std::chrono::milliseconds>(deadline - std::chrono::steady_clock::now());
    pollfd fd{out[0], POLLIN, 0};
    const int ready = left.count() <= 0 ? 0 : poll(&fd, 1, static_cast<int>(left.count()));
    if (ready < 0 && errno == EINTR) continue;
    if (ready <= 0 || text.size() > most_output) {
      in_time = false;
      kill(pid, SIGKILL);
      break;
    }
    const ssize_t got = read(out[0], chunk, sizeof chunk);
    if (got <= 0) break;
    text.append(chunk, static_cast<std::size_t>(got));
  }
  close(out[0]);
  int status = 0;
  while (waitpid(pid, &status, 0) < 0 && errno == EINTR) {
  }
  if (!in_time) return failed(fmt::format("no answer within {} ms", limit.count()));
  if (!WIFEXITED(status) || WEXITSTATUS(status) != 0)
    return failed(WIFEXITED(status) ? fmt::format("exit status {}", WEXITSTATUS(status))
                                    : fmt::format("killed by signal {}", WTERMSIG(status)));
  auto credential = parse_exec_credential(text, plugin.api_version);
  if (!credential) return failed(credential.error().message);
  return credential;
}

}  // namespace stackgate::kube
