#include <filesystem>
#include <fstream>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "services/kit/kube/config.hpp"
#include "services/kit/kube/credentials.hpp"

namespace stackgate::kube {
namespace {

using testing::HasSubstr;
using testing::IsEmpty;

constexpr std::string_view two_contexts = R"(
apiVersion: v1
kind: Config
current-context: lab
clusters:
- name: lab
  cluster: {server: "https://127.0.0.1:6443/", certificate-authority-data: Q0E=, tls-server-name: kube.local}
- name: far
  cluster: {server: https://far.example, insecure-skip-tls-verify: true, proxy-url: "http://proxy:3128"}
- name: bad
  cluster: {server: far.example}
contexts:
- name: lab
  context: {cluster: lab, user: admin, namespace: ml}
- name: far
  context: {cluster: far, user: robot}
- name: files
  context: {cluster: lab, user: files}
- name: plugin
  context: {cluster: lab, user: plugin}
- name: nobody
  context: {cluster: lab}
- name: half
  context: {cluster: lab, user: half}
- name: nouser
  context: {cluster: lab, user: gone}
- name: nocluster
  context: {cluster: gone, user: admin}
- name: badserver
  context: {cluster: bad, user: admin}
- name: oldplugin
  context: {cluster: lab, user: oldplugin}
- name: base64
  context: {cluster: lab, user: base64}
users:
- name: admin
  user: {client-certificate-data: Q0VSVA==, client-key-data: S0VZ}
- name: robot
  user: {token: abc}
- name: files
  user: {client-certificate: pki/a.crt, client-key: /abs/a.key, tokenFile: tok}
- name: plugin
  user:
    exec:
      apiVersion: client.authentication.k8s.io/v1
      command: bin/login
      args: [--a, b]
      env: [{name: A, value: "1"}]
      installHint: get it
- name: half
  user: {client-certificate-data: Q0VSVA==}
- name: oldplugin
  user: {exec: {apiVersion: client.authentication.k8s.io/v1alpha1, command: x}}
- name: base64
  user: {client-certificate-data: "Q0VSVA", client-key-data: S0VZ}
)";

Config good(std::string_view context) {
  auto config = parse_kubeconfig(two_contexts, "/etc/k", context);
  EXPECT_TRUE(config) << config.error().message;
  return config ? *config : Config{};
}

TEST(Kubeconfig, uses_its_current_context) {
  const Config config = good("");
  EXPECT_EQ(config.server, "https://127.0.0.1:6443");
  EXPECT_EQ(config.ca.text, "CA");
  EXPECT_EQ(config.tls_server_name, "kube.local");
  EXPECT_EQ(config.client_certificate.text, "CERT");
  EXPECT_EQ(config.client_key.text, "KEY");
  EXPECT_EQ(config.ns, "ml");
  EXPECT_THAT(config.warnings, IsEmpty());
}

TEST(Kubeconfig, uses_another_context_when_told) {
  const Config config = good("far");
  EXPECT_EQ(config.server, "https://far.example");
  EXPECT_EQ(config.token, "abc");
  EXPECT_EQ(config.proxy_url, "http://proxy:3128");
  EXPECT_EQ(config.ns, "default");
}

TEST(Kubeconfig, warns_of_unverified_tls) {
  const Config config = good("far");
  ASSERT_EQ(config.warnings.size(), 1U);
  EXPECT_THAT(config.warnings[0], HasSubstr("insecure-skip-tls-verify"));
}

TEST(Kubeconfig, takes_files_relative_to_itself) {
  const Config config = good("files");
  EXPECT_EQ(config.client_certificate.file, "/etc/k/pki/a.crt");
  EXPECT_EQ(config.client_key.file, "/abs/a.key");
  EXPECT_EQ(config.token_file, "/etc/k/tok");
}

TEST(Kubeconfig, reads_an_exec_plugin) {
  const Config config = good("plugin");
  EXPECT_EQ(config.exec.command, "/etc/k/bin/login");
  EXPECT_THAT(config.exec.args, testing::ElementsAre("--a", "b"));
  EXPECT_EQ(config.exec.env.at(0).first, "A");
  EXPECT_EQ(config.exec.env.at(0).second, "1");
}

TEST(Kubeconfig, may_have_no_user) { EXPECT_EQ(good("nobody").token, ""); }

TEST(Kubeconfig, says_what_is_wrong_with_it) {
  const std::pair<std::string, std::string> cases[] = {
      {"nosuch", "there is no context \"nosuch\"; there are: lab, far"},
      {"half", "without its key"},
      {"nouser", "names the user \"gone\""},
      {"nocluster", "names the cluster \"gone\""},
      {"badserver", "http or https URL"},
      {"oldplugin", "v1alpha1\" is not known"},
      {"base64", "client-certificate-data is not base64"},
  };
  for (const auto& [context, why] : cases) {
    const auto config = parse_kubeconfig(two_contexts, "", context);
    ASSERT_FALSE(config) << context;
    EXPECT_THAT(config.error().message, HasSubstr(why));
  }
  EXPECT_THAT(parse_kubeconfig("clusters: [", "").error().message, HasSubstr("kubeconfig:1:"));
  EXPECT_THAT(parse_kubeconfig("", "").error().message, HasSubstr("no kubeconfig"));
  EXPECT_THAT(parse_kubeconfig("- a", "").error().message, HasSubstr("no kubeconfig"));
  EXPECT_THAT(parse_kubeconfig("contexts: [{name: a}]", "").error().message, HasSubstr("name one of: a"));
  EXPECT_THAT(load_kubeconfig("/no/such/file").error().message, HasSubstr("/no/such/file cannot be read"));
}

class Folder : public testing::Test {
 protected:
  Folder() {
    std::string pattern = testing::TempDir() + "kubeconfigXXXXXX";
    path_ = mkdtemp(pattern.data());
  }
  ~Folder() override { std::filesystem::remove_all(path_); }
  std::string write(const std::string& name, std::string_view text) const {
    std::ofstream(path_ + "/" + name, std::ios::binary) << text;
    return path_ + "/" + name;
  }
  std::string path_;
};

class SeveralKubeconfigs : public Folder {};

TEST_F(SeveralKubeconfigs, are_read_as_one_where_the_first_wins) {
  const std::string a = write("a",
                              "current-context: one\ncontexts: [{name: one, context: {cluster: c, user: u}}]\n"
                              "clusters: [{name: c, cluster: {server: https://a, certificate-authority: ca.crt}}]");
  const std::string b = write("b",
                              "current-context: two\nusers: [{name: u, user: {token: t}}]\n"
                              "clusters: [{name: c, cluster: {server: https://b}}]");
  const auto config = load_kubeconfig(a + ":/no/such/file:" + b);
  ASSERT_TRUE(config) << config.error().message;
  EXPECT_EQ(config->server, "https://a");
  EXPECT_EQ(config->token, "t");
  EXPECT_EQ(config->ca.file, path_ + "/ca.crt");
}

class InCluster : public Folder {};

TEST_F(InCluster, reads_the_mounted_service_account) {
  write("ca.crt", "CA");
  write("token", "tok\n");
  write("namespace", "stackgate-system");
  setenv("KUBERNETES_SERVICE_HOST", "fd00::1", 1);
  setenv("KUBERNETES_SERVICE_PORT", "443", 1);
  const auto config = in_cluster(path_);
  unsetenv("KUBERNETES_SERVICE_HOST");
  unsetenv("KUBERNETES_SERVICE_PORT");
  ASSERT_TRUE(config) << config.error().message;
  EXPECT_EQ(config->server, "https://[fd00::1]:443");
  EXPECT_EQ(config->ns, "stackgate-system");
  EXPECT_EQ(config->ca.file, path_ + "/ca.crt");
}

TEST_F(InCluster, says_what_the_pod_lacks) {
  EXPECT_THAT(in_cluster(path_).error().message, HasSubstr("KUBERNETES_SERVICE_HOST"));
  setenv("KUBERNETES_SERVICE_HOST", "10.0.0.1", 1);
  const auto config = in_cluster(path_);
  unsetenv("KUBERNETES_SERVICE_HOST");
  EXPECT_THAT(config.error().message, HasSubstr("automountServiceAccountToken"));
}

class TokenFile : public Folder {};

TEST_F(TokenFile, is_read_again_after_the_server_refused_it) {
  Config config;
  config.token_file = write("token", "old\n");
  Credentials credentials(config);
  const auto first = credentials.current();
  ASSERT_TRUE(first);
  EXPECT_EQ((*first)->authorization, "Bearer old");
  write("token", "new\n");
  EXPECT_EQ((*credentials.current())->authorization, "Bearer old") << "not read at every request";
  credentials.reject(*first);
  EXPECT_EQ((*credentials.current())->authorization, "Bearer new");
}

TEST_F(TokenFile, that_vanishes_for_a_moment_leaves_the_old_token_in_force) {
  Config config;
  config.token_file = write("token", "old\n");
  Credentials credentials(config);
  const auto first = credentials.current();
  std::filesystem::remove(config.token_file);
  credentials.reject(*first);
  EXPECT_EQ((*credentials.current())->authorization, "Bearer old");
}

TEST_F(TokenFile, that_was_never_there_is_an_error) {
  Config config;
  config.token_file = path_ + "/token";
  Credentials credentials(config);
  const auto none = credentials.current();
  ASSERT_FALSE(none);
  EXPECT_THAT(none.error().message, HasSubstr("token file"));
}

}  // namespace
}  // namespace stackgate::kube
