// The watches behind the store, over an API server of the test's own: lists, events, 410, cut connections, missing
// types.
#include "reconcile/observe/cluster_watches.hpp"

#include <algorithm>
#include <chrono>
#include <mutex>
#include <thread>

#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "crds/kinds.hpp"
#include "services/kit/kube/client.hpp"
#include "services/kit/kube/shared_watches.hpp"
#include "tests/reconcile/control/api_server.hpp"

namespace stackgate::reconcile {
namespace cluster_watches_test {

using ::testing::ElementsAre;
using ::testing::IsEmpty;
using tests::ApiServer;
using validate::ReferenceKind;

const Key llm{crds::Kind::inference_service, "ml", "llm"};
const std::string services = "/apis/stackgate.dev/v1alpha1/inferenceservices";
const std::string own = "/apis/stackgate.dev/v1alpha1/namespaces/ml/inferenceservices/llm";
const std::string secret = "/api/v1/namespaces/ml/secrets/key";
const std::string child = "/api/v1/namespaces/ml/services/llm";

std::string definition_path(std::string_view name) {
  return fmt::format("/apis/apiextensions.k8s.io/v1/customresourcedefinitions/{}", name);
}

class ClusterWatchesTest : public ::testing::Test {
 protected:
  void SetUp() override {
    for (const crds::KindInfo& each : crds::kinds) define(fmt::format("{}.{}", each.plural, crds::api_group));
    for (const ChildTypeInfo& each : child_types)
      if (each.optional && each.type != ChildType::inference_service)
        server.hide(fmt::format("/apis/{}/{}", each.api_version, each.plural));
    server.put(own, R"({"metadata":{"name":"llm","namespace":"ml","uid":"u1"},"spec":{"authSecret":"key"}})");
  }
  void define(const std::string& name) {
    server.put(definition_path(name), fmt::format(R"({{"metadata":{{"name":"{}"}}}})", name));
  }

  void start() {
    client = *kube::Client::connect({.server = server.url()}, {});
    tuning.backoff = {std::chrono::milliseconds(5), std::chrono::milliseconds(50), 2.0};
    watches = std::make_unique<kube::SharedWatches>(client->transport(), std::vector<std::string>{}, tuning);
    state.subscribe(*watches);
    cluster_watches = std::make_unique<ClusterWatches>(*watches, store, "autoscaling/v2");
    watches->start();
    ASSERT_TRUE(eventually([&] { return cluster_watches->synced(); }));
    take_changes();
  }

  template <class Condition>
  static bool eventually(const Condition& condition) {
    const auto limit = std::chrono::steady_clock::now() + std::chrono::seconds(20);
    while (!condition() && std::chrono::steady_clock::now() < limit)
      std::this_thread::sleep_for(std::chrono::milliseconds(2));
    return condition();
  }
  /// Whether a watched type was last answered with 404.
  bool inference_services_are_missing() const {
    return std::ranges::any_of(watches->report(), [](const kube::WatchReport& each) {
      return each.type == "inferenceservices.stackgate.dev" && each.health.missing;
    });
  }
  std::vector<std::string> take_changes() {
    const std::scoped_lock lock(mutex);
    return std::exchange(changes, {});
  }
  /// True once the store has said that llm may have to be looked at.
  bool is_called() {
    return eventually([&] {
      const std::scoped_lock lock(mutex);
      return !changes.empty();
    });
  }

  ApiServer server;
  kube::WatchTuning tuning;
  std::mutex mutex;
  std::vector<std::string> changes;
  cluster::State state{cluster::State::Contents::yes};
  Store store{state, [this](const Key& key) {
                const std::scoped_lock lock(mutex);
                changes.push_back(key.name);
              }};
  std::unique_ptr<kube::Client> client;
  std::unique_ptr<kube::SharedWatches> watches;
  std::unique_ptr<ClusterWatches> cluster_watches;
};

std::string child_json(std::string_view uid, std::string_view owner = "u1") {
  return fmt::format(
      R"({{"metadata":{{"name":"llm","namespace":"ml","uid":"{}","labels":{{"app.kubernetes.io/managed-by":"stackgate"}},)"
      R"("ownerReferences":[{{"apiVersion":"stackgate.dev/v1alpha1","kind":"InferenceService","name":"llm",)"
      R"("uid":"{}","controller":true}}]}}}})",
      uid, owner);
}

TEST_F(ClusterWatchesTest, knows_all_that_exists_once_it_is_synced) {
  server.put(child, child_json("c1"));
  server.put("/api/v1/namespaces/ml/services/other", R"({"metadata":{"name":"other","namespace":"ml"}})");
  server.put("/api/v1/namespaces/ml/pods/llm-0", R"({"metadata":{"name":"llm-0","namespace":"ml","labels":{
      "app.kubernetes.io/managed-by":"stackgate","app.kubernetes.io/component":"inference",
      "app.kubernetes.io/instance":"llm"}}})");
  server.put(secret, R"({"metadata":{"name":"key","namespace":"ml"},"data":{"a":"Yg=="}})");
  server.put("/api/v1/namespaces/ml/persistentvolumeclaims/models",
             R"({"metadata":{"name":"models","namespace":"ml"},"spec":{}})");
  start();
  const Snapshot snapshot = store.snapshot(llm);
  ASSERT_TRUE(snapshot.resource);
  EXPECT_EQ(snapshot.children.size(), 1U);
  EXPECT_EQ(snapshot.pods.size(), 1U);
  EXPECT_TRUE(state.contents(ReferenceKind::secret, "ml", "key"));
  EXPECT_NE(state.contents(ReferenceKind::persistent_volume_claim, "ml", "models"), nullptr);
  EXPECT_THAT(state.missing_definitions(), IsEmpty());
  EXPECT_FALSE(cluster_watches->served().http_routes);
  EXPECT_FALSE(cluster_watches->served().service_monitors);
}

TEST_F(ClusterWatchesTest, hears_of_what_comes_changes_and_goes) {
  start();
  server.put(child, child_json("c1"));
  EXPECT_TRUE(is_called());
  EXPECT_EQ(store.snapshot(llm).children.size(), 1U);
  take_changes();
  server.change(child, R"({"spec":{"type":"NodePort"}})");
  EXPECT_TRUE(is_called());
  EXPECT_THAT(*store.snapshot(llm).children.at(0).json, ::testing::HasSubstr("NodePort"));
  take_changes();
  server.remove(child);
  EXPECT_TRUE(is_called());
  EXPECT_EQ(store.snapshot(llm).lost, (std::vector{std::pair(ChildType::service, std::string("llm"))}));
}

TEST_F(ClusterWatchesTest, a_change_of_what_a_resource_refers_to_is_news_for_it) {
  start();
  store.set_references(llm, {reference("secrets", "ml", "key"), reference("storageclasses", "", "fast")});
  server.put(secret, R"({"metadata":{"name":"key","namespace":"ml"},"data":{"a":"Yg=="}})");
  EXPECT_TRUE(is_called());
  take_changes();
  server.put("/apis/storage.k8s.io/v1/storageclasses/fast", R"({"metadata":{"name":"fast"}})");
  EXPECT_TRUE(is_called());
}

TEST_F(ClusterWatchesTest, lists_anew_after_410_and_drops_what_went_meanwhile) {
  server.put(child, child_json("c1"));
  start();
  const int lists = server.lists_of("/api/v1/services");
  server.compact();
  EXPECT_TRUE(eventually([&] { return server.lists_of("/api/v1/services") > lists; }));
  EXPECT_EQ(store.snapshot(llm).children.size(), 1U) << "what is still there stays";
  take_changes();
  server.remove(child);
  EXPECT_TRUE(is_called()) << "the new watch hears of what comes after the list";
  EXPECT_THAT(store.snapshot(llm).children, IsEmpty());
}

TEST_F(ClusterWatchesTest, a_list_after_410_shows_what_the_watch_never_told) {
  server.put(child, child_json("c1"));
  start();
  server.refuse("GET /api/v1/services", 503, "ServiceUnavailable", "starting", 3);
  server.compact();
  server.remove(child);
  EXPECT_TRUE(eventually([&] { return store.snapshot(llm).children.empty(); }));
  EXPECT_TRUE(is_called());
  EXPECT_TRUE(store.snapshot(llm).resource) << "other types are none of its business";
}

TEST_F(ClusterWatchesTest, goes_on_where_it_was_after_a_cut) {
  start();
  const int lists = server.lists_of("/api/v1/services");
  server.cut_watches();
  server.put(child, child_json("c1"));
  EXPECT_TRUE(is_called());
  EXPECT_EQ(store.snapshot(llm).children.size(), 1U);
  EXPECT_EQ(server.lists_of("/api/v1/services"), lists) << "a cut needs no list";
}

TEST_F(ClusterWatchesTest, names_the_definitions_that_are_missing_and_hears_when_they_come) {
  const std::string name = "stackguardrails.stackgate.dev";
  server.remove(definition_path(name));
  server.hide("/apis/stackgate.dev/v1alpha1/stackguardrails");
  start();
  EXPECT_THAT(state.missing_definitions(), ElementsAre(name));
  server.hide("/apis/stackgate.dev/v1alpha1/stackguardrails", false);
  server.put("/apis/stackgate.dev/v1alpha1/namespaces/ml/stackguardrails/rails",
             R"({"metadata":{"name":"rails","namespace":"ml","uid":"u2"},"spec":{}})");
  define(name);
  EXPECT_TRUE(eventually([&] { return state.resource(crds::Kind::stack_guardrail, "ml", "rails") != nullptr; }));
  EXPECT_THAT(state.missing_definitions(), IsEmpty());
}

// As where an aggregated API server serves the resources: the definitions are not listed by the one that is asked.
TEST_F(ClusterWatchesTest, a_type_without_definition_that_was_there_is_asked_for_again) {
  const std::string name = "inferenceservices.stackgate.dev";
  server.remove(definition_path(name));
  start();
  ASSERT_TRUE(store.snapshot(llm).resource);
  server.hide(services);
  server.cut_watches();
  ASSERT_TRUE(eventually([&] { return inference_services_are_missing(); }));
  EXPECT_TRUE(store.snapshot(llm).resource) << "a server that has just started knows nothing yet";
  server.hide(services, false);
  server.change(own, R"({"spec":{"authSecret":"other"}})");
  EXPECT_TRUE(is_called());
}

TEST_F(ClusterWatchesTest, a_type_without_definition_is_gone_when_it_stays_away_and_may_come_back) {
  server.remove(definition_path("inferenceservices.stackgate.dev"));
  tuning.unlisted_wait = std::chrono::milliseconds(100);
  start();
  server.hide(services);
  server.cut_watches();
  EXPECT_TRUE(eventually([&] { return !store.snapshot(llm).resource; }));
  take_changes();
  server.hide(services, false);
  EXPECT_TRUE(eventually([&] { return static_cast<bool>(store.snapshot(llm).resource); }));
}

TEST_F(ClusterWatchesTest, an_optional_type_is_served_while_its_definition_is_there) {
  start();
  EXPECT_FALSE(cluster_watches->served().leader_worker_sets);
  server.hide("/apis/leaderworkerset.x-k8s.io/v1/leaderworkersets", false);
  define("leaderworkersets.leaderworkerset.x-k8s.io");
  EXPECT_TRUE(eventually([&] { return cluster_watches->served().leader_worker_sets; }));
}

}  // namespace cluster_watches_test
}  // namespace stackgate::reconcile
