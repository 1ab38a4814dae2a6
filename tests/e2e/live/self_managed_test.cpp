// Self-managed certificates on a real API server; see live.hpp.
#include "certs/self_managed.hpp"

#include <atomic>
#include <cstdlib>
#include <set>
#include <thread>

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include "certs/ca_bundle.hpp"
#include "certs/self_managed_secret.hpp"
#include "services/kit/base/base64.hpp"
#include "services/kit/json/read.hpp"
#include "tests/e2e/live/live.hpp"

namespace stackgate::certs {
namespace {

using live::environment;
using live::within;
using namespace std::chrono_literals;
using Clock = std::chrono::steady_clock;

class LiveSelfManaged : public testing::Test {
 protected:
  void SetUp() override {
    const std::string file = environment("STACKGATE_TEST_KUBECONFIG");
    if (file.empty()) GTEST_SKIP() << live::no_server;
    static std::atomic<int> count{0};
    name = "certs-" + std::to_string(getpid()) + "-" + std::to_string(++count);
    for (int i = 0; i < 3; ++i) {
      auto client = kube::Client::connect(*kube::load_kubeconfig(file));
      ASSERT_TRUE(client);
      clients.push_back(std::move(*client));
    }
    ASSERT_TRUE(admin().create(kube::types::namespaces, "", R"({"metadata":{"name":")" + name + R"("}})"));
    ASSERT_TRUE(admin().create(kube::types::validating_webhooks, "", configuration("ValidatingWebhookConfiguration")));
    ASSERT_TRUE(admin().create(kube::types::mutating_webhooks, "", configuration("MutatingWebhookConfiguration")));
  }
  void TearDown() override {
    if (clients.empty()) return;
    (void)admin().remove(kube::types::validating_webhooks, "", name);
    (void)admin().remove(kube::types::mutating_webhooks, "", name);
    (void)admin().remove(kube::types::secrets, name, "cert");
    (void)admin().remove(kube::types::namespaces, "", name);
  }

  /// Two webhooks that match nothing that exists.
  std::string configuration(const std::string& kind) const {
    std::string out = R"({"apiVersion":"admissionregistration.k8s.io/v1","kind":")" + kind +
                      R"(","metadata":{"name":")" + name + R"("},"webhooks":[)";
    for (const auto* each : {"a", "b"})
      out +=
          std::string(*each == 'a' ? "" : ",") + R"({"name":")" + each + "." + name +
          R"(.test","sideEffects":"None","admissionReviewVersions":["v1"],"clientConfig":{"url":"https://127.0.0.1:1/x"},
             "rules":[{"apiGroups":["no.such"],"apiVersions":["v1"],"operations":["CREATE"],"resources":["things"]}]})";
    return out + "]}";
  }

  SelfManagedOptions options() const {
    SelfManagedOptions out;
    out.ns = name;
    out.secret = "cert";
    out.configurations = {name};
    out.policy.dns_names = service_names("stackgate", name);
    return out;
  }

  kube::Client& admin() { return *clients[0]; }

  SelfManagedState stored() {
    const auto secret = admin().get(kube::types::secrets, name, "cert");
    return secret ? read_secret(secret->root()) : SelfManagedState{};
  }

  /// The bundles of all four webhooks.
  std::vector<std::string> bundles() {
    std::vector<std::string> out;
    for (const auto& type : {kube::types::validating_webhooks, kube::types::mutating_webhooks}) {
      const auto object = admin().get(type, "", name);
      if (!object) continue;
      for (const json::Value& webhook : object->root().find("webhooks")->items()) {
        const json::Value* bundle = json::at(&webhook, {"clientConfig", "caBundle"});
        out.push_back(bundle == nullptr ? "" : base64::decode(bundle->string()).value_or(""));
      }
    }
    return out;
  }

  bool all_trust(const std::string& bundle) {
    const auto all = bundles();
    return all.size() == 4 &&
           std::ranges::all_of(all, [&](const auto& each) { return same_certificates(each, bundle); });
  }

  std::vector<std::unique_ptr<kube::Client>> clients;
  std::string name;
};

TEST_F(LiveSelfManaged, replicas_that_start_at_once_agree_on_one_ca) {
  std::vector<std::shared_ptr<SelfManaged>> replicas;
  for (auto& client : clients) replicas.push_back(SelfManaged::start(*client, options()));
  ASSERT_TRUE(within(20s, [&] {
    return std::ranges::all_of(replicas,
                               [](const auto& each) { return each->current() != nullptr && each->published(); });
  })) << replicas[0]->status().error;
  std::set<std::string> serials;
  for (const auto& each : replicas) serials.insert(each->status().serving->serial);
  EXPECT_EQ(serials.size(), 1U) << "all serve the same leaf";
  const SelfManagedState state = stored();
  EXPECT_TRUE(all_trust(trust_bundle(state)));
  EXPECT_TRUE(verify_chain(state.leaf.certificates, state.signing.certificates, std::chrono::system_clock::now()));
}

TEST_F(LiveSelfManaged, settled_replicas_write_nothing) {
  std::vector<std::shared_ptr<SelfManaged>> replicas;
  for (auto& client : clients) replicas.push_back(SelfManaged::start(*client, options()));
  ASSERT_TRUE(
      within(20s, [&] { return std::ranges::all_of(replicas, [](const auto& each) { return each->published(); }); }));
  std::this_thread::sleep_for(1s);
  const auto version = [this](const kube::ResourceType& type, const std::string& ns, const std::string& object) {
    const auto got = admin().get(type, ns, object);
    return std::string(got->resource_version());
  };
  const auto versions = [&] {
    return version(kube::types::secrets, name, "cert") + "/" + version(kube::types::validating_webhooks, "", name) +
           "/" + version(kube::types::mutating_webhooks, "", name);
  };
  const std::string before = versions();
  std::this_thread::sleep_for(2s);
  EXPECT_EQ(versions(), before);
}

TEST_F(LiveSelfManaged, repairs_a_bundle_that_somebody_reset) {
  const auto replica = SelfManaged::start(*clients[1], options());
  ASSERT_TRUE(within(20s, [&] { return replica->published(); })) << replica->status().error;
  ASSERT_TRUE(admin().patch(kube::types::validating_webhooks, "", name, kube::PatchType::json,
                            R"([{"op":"remove","path":"/webhooks/1/clientConfig/caBundle"}])"));
  EXPECT_TRUE(within(5s, [&] { return all_trust(trust_bundle(stored())); }));
}

TEST_F(LiveSelfManaged, gives_a_configuration_that_comes_later_its_bundle) {
  ASSERT_TRUE(admin().remove(kube::types::mutating_webhooks, "", name));
  const auto replica = SelfManaged::start(*clients[1], options());
  ASSERT_TRUE(within(20s, [&] { return replica->published(); })) << replica->status().error;
  ASSERT_TRUE(admin().create(kube::types::mutating_webhooks, "", configuration("MutatingWebhookConfiguration")));
  EXPECT_TRUE(within(5s, [&] { return all_trust(trust_bundle(stored())); }));
}

TEST_F(LiveSelfManaged, puts_a_deleted_secret_back_as_it_was) {
  const auto replica = SelfManaged::start(*clients[1], options());
  ASSERT_TRUE(within(20s, [&] { return replica->published(); })) << replica->status().error;
  const SelfManagedState before = stored();
  ASSERT_TRUE(admin().remove(kube::types::secrets, name, "cert"));
  ASSERT_TRUE(within(5s, [&] { return !stored().leaf.certificates.empty(); }));
  EXPECT_EQ(stored(), before);
}

TEST_F(LiveSelfManaged, mends_a_broken_secret_and_serves_the_new_leaf) {
  const auto replica = SelfManaged::start(*clients[1], options());
  ASSERT_TRUE(within(20s, [&] { return replica->published(); })) << replica->status().error;
  const std::string serial = replica->status().serving->serial;
  ASSERT_TRUE(admin().patch(kube::types::secrets, name, "cert", kube::PatchType::merge,
                            R"({"data":{"signing-ca.key":"anVuaw==","mine":"eA=="}})"));
  ASSERT_TRUE(within(5s, [&] { return replica->status().serving->serial != serial; }));
  const SelfManagedState state = stored();
  EXPECT_TRUE(within(5s, [&] { return all_trust(trust_bundle(state)); }));
  EXPECT_FALSE(state.previous.empty()) << "what another replica still serves stays trusted";
  const auto secret = admin().get(kube::types::secrets, name, "cert");
  EXPECT_NE(json::at(&secret->root(), {"data", "mine"}), nullptr) << "other keys are not ours to remove";
}

TEST_F(LiveSelfManaged, leaves_cert_managers_configuration_to_cert_manager) {
  ASSERT_TRUE(admin().patch(kube::types::validating_webhooks, "", name, kube::PatchType::merge,
                            R"({"metadata":{"annotations":{"cert-manager.io/inject-ca-from":"a/b"}}})"));
  const auto replica = SelfManaged::start(*clients[1], options());
  ASSERT_TRUE(within(10s, [&] { return !replica->status().error.empty(); }));
  EXPECT_THAT(replica->status().error, testing::HasSubstr("cert-manager.io/inject-ca-from"));
  EXPECT_FALSE(replica->published());
}

TEST_F(LiveSelfManaged, ends_without_delay) {
  auto replica = SelfManaged::start(*clients[1], options());
  ASSERT_TRUE(within(20s, [&] { return replica->published(); }));
  const auto begun = Clock::now();
  replica.reset();
  EXPECT_LT(Clock::now() - begun, 1s);
}

}  // namespace
}  // namespace stackgate::certs
