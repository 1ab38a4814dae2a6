// What tests of shared watches have in common; see live.hpp.
#pragma once
#include <atomic>
#include <mutex>
#include <set>
#include <string>
#include <vector>

#include <gtest/gtest.h>
#include <unistd.h>

#include "services/kit/json/read.hpp"
#include "services/kit/kube/client.hpp"
#include "services/kit/kube/shared_watches.hpp"
#include "tests/e2e/live/live.hpp"

namespace stackgate::kube {

/// Names that exist, as a sink is told of them.
class Names final : public WatchSink {
 public:
  void relist_began() override {
    const std::scoped_lock lock(mutex_);
    fresh_.clear();
    listing_ = true;
  }
  void upsert(const json::Value& object) override {
    const std::scoped_lock lock(mutex_);
    const std::string name(metadata(object, "name"));
    names_.insert(name);
    fresh_.insert(name);
    with_data_ = with_data_ || object.find("data") != nullptr || object.find("spec") != nullptr;
  }
  void remove(const json::Value& object) override {
    const std::scoped_lock lock(mutex_);
    names_.erase(std::string(metadata(object, "name")));
    fresh_.erase(std::string(metadata(object, "name")));
  }
  void relist_ended() override {
    const std::scoped_lock lock(mutex_);
    names_ = fresh_;
    listing_ = false;
    ++lists_;
  }
  std::set<std::string> get() const {
    const std::scoped_lock lock(mutex_);
    return names_;
  }
  bool with_data() const {
    const std::scoped_lock lock(mutex_);
    return with_data_;
  }
  int lists() const {
    const std::scoped_lock lock(mutex_);
    return lists_;
  }

 private:
  mutable std::mutex mutex_;
  std::set<std::string> names_, fresh_;
  bool with_data_ = false, listing_ = false;
  int lists_ = 0;
};

/// A namespace and a type of its own for each test.
class WatchingTest : public testing::Test {
 protected:
  void SetUp() override {
    const std::string file = live::environment("STACKGATE_TEST_KUBECONFIG");
    if (file.empty()) GTEST_SKIP() << live::no_server;
    auto config = load_kubeconfig(file);
    ASSERT_TRUE(config) << config.error().message;
    client = connect(*config);
    static std::atomic<int> count{0};
    // Of this test alone, so that no other test's definitions are in the way.
    unique = std::to_string(getpid()) + "-" + std::to_string(++count);
    ns = "shared-" + unique;
    group = "t" + unique + ".test";
    make_namespace(ns);
  }
  void TearDown() override {
    if (client == nullptr) return;
    drop_crd();
    for (const std::string& name : rights) {
      (void)client->remove(cluster_role_bindings, "", name);
      (void)client->remove(cluster_roles, "", name);
    }
    for (const std::string& each : namespaces) {
      (void)client->request("DELETE", collection_path(types::config_maps, each));
      (void)client->remove(types::namespaces, "", each);
    }
  }
  static std::unique_ptr<Client> connect(const Config& config) {
    auto connected = Client::connect(config);
    EXPECT_TRUE(connected);
    return std::move(*connected);
  }
  void make_namespace(const std::string& name) {
    ASSERT_TRUE(client->create(types::namespaces, "", R"({"metadata":{"name":")" + name + R"("}})"));
    namespaces.push_back(name);
  }
  void make_map(const std::string& in, const std::string& name, const std::string& labels = "{}") {
    const auto made =
        client->create(types::config_maps, in,
                       R"({"metadata":{"name":")" + name + R"(","labels":)" + labels + R"(},"data":{"k":"v"}})");
    ASSERT_TRUE(made) << made.error().message;
  }

  ResourceType widgets() const { return {group, "v1", "widgets"}; }
  std::string crd_name() const { return "widgets." + group; }
  void make_crd(const std::string& version = "v1") {
    const auto made = client->create(
        types::custom_resource_definitions, "",
        R"({"apiVersion":"apiextensions.k8s.io/v1","kind":"CustomResourceDefinition","metadata":{"name":")" +
            crd_name() + R"("},"spec":{"group":")" + group +
            R"(","scope":"Namespaced","names":{"plural":"widgets","kind":"Widget"},"versions":[)" + served(version) +
            "]}}");
    ASSERT_TRUE(made) << made.error().message;
  }
  static std::string served(const std::string& version, bool storage = true) {
    return R"({"name":")" + version + R"(","served":true,"storage":)" + (storage ? "true" : "false") +
           R"(,"schema":{"openAPIV3Schema":{"type":"object","x-kubernetes-preserve-unknown-fields":true}}})";
  }
  void drop_crd() { (void)client->remove(types::custom_resource_definitions, "", crd_name()); }
  bool make_widget(const std::string& name) {
    return client
        ->create(widgets(), ns,
                 R"({"apiVersion":")" + group + R"(/v1","kind":"Widget","metadata":{"name":")" + name + R"("}})")
        .has_value();
  }
  /// A service account of the test's namespace, without rights.
  std::unique_ptr<Client> as_service_account(const std::string& name) {
    EXPECT_TRUE(client->create(types::service_accounts, ns, R"({"metadata":{"name":")" + name + R"("}})"));
    const auto answer = client->request("POST", object_path(types::service_accounts, ns, name, "token"),
                                        R"({"apiVersion":"authentication.k8s.io/v1","kind":"TokenRequest","spec":{}})");
    EXPECT_TRUE(answer) << answer.error().message;
    bool valid = false;
    const Object made = Object::parse(answer ? answer->body : "", valid);
    const json::Value* token = json::at(&made.root(), {"status", "token"});
    Config config = client->transport().config();
    config.client_certificate = config.client_key = {};
    config.token = token == nullptr ? "" : token->string();
    return connect(config);
  }
  /// Lets it list and watch a type everywhere, until the test ends.
  void allow(const std::string& account, const std::string& right, const std::string& api_group,
             const std::string& resource) {
    const std::string name = ns + "-" + right;
    ASSERT_TRUE(client->create(cluster_roles, "",
                               R"({"metadata":{"name":")" + name + R"("},"rules":[{"apiGroups":[")" + api_group +
                                   R"("],"resources":[")" + resource + R"("],"verbs":["list","watch"]}]})"));
    ASSERT_TRUE(client->create(
        cluster_role_bindings, "",
        R"({"metadata":{"name":")" + name +
            R"("},"roleRef":{"apiGroup":"rbac.authorization.k8s.io","kind":"ClusterRole","name":")" + name +
            R"("},"subjects":[{"kind":"ServiceAccount","name":")" + account + R"(","namespace":")" + ns + R"("}]})"));
    rights.push_back(name);
  }
  /// Requests that `watches` made for the type.
  static std::uint64_t requests(const SharedWatches& watches, const std::string& type) {
    std::uint64_t out = 0;
    for (const WatchReport& each : watches.report())
      if (each.type == type) out += each.health.counts.lists + each.health.counts.watches;
    return out;
  }

  std::unique_ptr<Client> client;
  std::string unique, ns, group;
  std::vector<std::string> namespaces, rights;
  static constexpr ResourceType cluster_roles{"rbac.authorization.k8s.io", "v1", "clusterroles", false};
  static constexpr ResourceType cluster_role_bindings{"rbac.authorization.k8s.io", "v1", "clusterrolebindings", false};
};

}  // namespace stackgate::kube
