// References looked up in a real cluster; see live.hpp.
#include "cluster_state/lookup.hpp"

#include <cstdlib>
#include <thread>

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include "crds/embedded.hpp"
#include "tests/e2e/live/live.hpp"
#include "validators/children.hpp"

namespace stackgate::cluster {
namespace {

using live::environment;
using live::within;
using namespace std::chrono_literals;
using testing::ElementsAre;
using testing::UnorderedElementsAre;
using validate::Presence;
using validate::ReferenceKind;
using Clock = std::chrono::steady_clock;

/// A lookup with watches of its own, running.
struct Lookups {
  Lookups(kube::Client& client, std::vector<std::string> namespaces)
      : watches(client.transport(), std::move(namespaces)), lookup(client, state) {
    state.subscribe(watches);
    watches.start();
  }
  ClusterLookup* operator->() { return &lookup; }

  State state{State::Contents::no};
  kube::SharedWatches watches;
  ClusterLookup lookup;
};

class LiveLookup : public testing::Test {
 protected:
  void SetUp() override {
    const std::string file = environment("STACKGATE_TEST_KUBECONFIG");
    if (file.empty()) GTEST_SKIP() << live::no_server;
    auto config = kube::load_kubeconfig(file);
    ASSERT_TRUE(config) << config.error().message;
    client = connect(*config);
    static std::atomic<int> count{0};
    ns = "lookup-" + std::to_string(getpid()) + "-" + std::to_string(++count);
    ASSERT_TRUE(client->create(kube::types::namespaces, "", R"({"metadata":{"name":")" + ns + R"("}})"));
    for (const crds::KindInfo& kind : crds::kinds) {
      const auto made =
          client->create(kube::types::custom_resource_definitions, "", std::string(crds::definition_json(kind.kind)));
      ASSERT_TRUE(made || made.error().conflict()) << made.error().message;
    }
    for (const crds::KindInfo& kind : crds::kinds)
      ASSERT_TRUE(within(20s, [&] {
        return client->list(resource_type(kind.kind), ns, {}, [](const json::Value&) {}).has_value();
      })) << kind.name;
  }
  void TearDown() override {
    if (client == nullptr) return;
    for (const ReferenceKind each :
         {ReferenceKind::secret, ReferenceKind::config_map, ReferenceKind::persistent_volume_claim})
      (void)client->request("DELETE", kube::collection_path(resource_type(each), ns));
    for (const crds::KindInfo& kind : crds::kinds)
      (void)client->request("DELETE", kube::collection_path(resource_type(kind.kind), ns));
    (void)client->remove(kube::types::namespaces, "", ns);
  }

  static std::unique_ptr<kube::Client> connect(const kube::Config& config) {
    auto connected = kube::Client::connect(config);
    EXPECT_TRUE(connected);
    return std::move(*connected);
  }
  void make(const kube::ResourceType& type, const std::string& name, const std::string& rest) {
    const auto made = client->create(type, ns, R"({"metadata":{"name":")" + name + R"("},)" + rest + "}");
    ASSERT_TRUE(made) << made.error().message;
  }
  void make_ours(crds::Kind kind, const std::string& name, const std::string& spec) {
    const auto made =
        client->create(resource_type(kind), ns,
                       R"({"apiVersion":"stackgate.dev/v1alpha1","kind":")" + std::string(crds::info(kind).name) +
                           R"(","metadata":{"name":")" + name + R"("},"spec":)" + spec + "}");
    ASSERT_TRUE(made) << made.error().message;
  }
  void make_service(const std::string& name) {
    make_ours(crds::Kind::inference_service, name,
              R"({"image":{"repository":"r","tag":"1.0"},"authSecret":"s","storage":{"nimCache":{"name":"c"}},
                  "resources":{"limits":{"nvidia.com/gpu":1}}})");
  }
  void make_cache(const std::string& name) {
    make_ours(crds::Kind::inference_cache, name,
              R"({"source":{"registry":{"modelPuller":"p","authSecret":"s"}},
                  "storage":{"pvc":{"create":true,"size":"1Gi","volumeAccessMode":"ReadWriteOnce"}}})");
  }
  std::vector<std::string> names(validate::Lookup& lookup) {
    std::vector<validate::Neighbour> all;
    EXPECT_TRUE(lookup.neighbours(ns, all));
    std::vector<std::string> out;
    for (const auto& each : all) out.push_back(each.name);
    return out;
  }

  std::unique_ptr<kube::Client> client;
  std::string ns;
};

TEST_F(LiveLookup, answers_at_once_from_what_it_watches) {
  make(kube::types::secrets, "hub", R"("type":"Opaque","data":{"a":"dg==","b":"dg=="})");
  make(kube::types::config_maps, "model", R"("data":{"x":"1"})");
  make(kube::types::persistent_volume_claims, "disk",
       R"("spec":{"accessModes":["ReadWriteMany"],"resources":{"requests":{"storage":"1Gi"}}})");
  make_cache("c");
  ASSERT_TRUE(client->patch(resource_type(crds::Kind::inference_cache), ns, "c", kube::PatchType::merge,
                            R"({"status":{"state":"Ready"}})", "status"));
  Lookups lookups(*client, {});
  ASSERT_TRUE(within(10s, [&] { return lookups.state.synced(); }));
  const auto quick = lookups->quick();
  EXPECT_THAT(quick->find(ReferenceKind::secret, ns, "hub").keys, ElementsAre("a", "b"));
  EXPECT_EQ(quick->find(ReferenceKind::secret, ns, "hub").type, "Opaque");
  EXPECT_THAT(quick->find(ReferenceKind::config_map, ns, "model").keys, ElementsAre("x"));
  EXPECT_THAT(quick->find(ReferenceKind::persistent_volume_claim, ns, "disk").access_modes,
              ElementsAre("ReadWriteMany"));
  EXPECT_EQ(quick->find(ReferenceKind::inference_cache, ns, "c").state, "Ready");
  EXPECT_EQ(quick->find(ReferenceKind::priority_class, "", "system-node-critical").presence, Presence::present);
  EXPECT_FALSE(quick->wants_asking());
  EXPECT_EQ(lookups->counters().cached, 6U);
}

TEST_F(LiveLookup, asks_for_what_a_config_map_holds) {
  make(kube::types::config_maps, "rails", R"("data":{"config.yml":"models: []"},"binaryData":{"kb__a.md":"aGk="})");
  Lookups lookups(*client, {});
  ASSERT_TRUE(within(10s, [&] { return lookups.state.synced(); }));
  const auto quick = lookups->quick();
  EXPECT_FALSE(quick->contents(ns, "rails").has_value());
  EXPECT_TRUE(quick->wants_asking());
  const auto asking = lookups->asking();
  const auto found = asking->contents(ns, "rails");
  ASSERT_TRUE(found.has_value());
  std::string all;
  for (const auto& each : *found) all += each.key + "=" + each.bytes + " ";
  EXPECT_EQ(all, "config.yml=models: [] kb__a.md=hi ");
  EXPECT_FALSE(asking->contents(ns, "nobody").has_value());
  EXPECT_FALSE(lookups->cached_only()->contents(ns, "rails").has_value());
}

TEST_F(LiveLookup, wants_to_ask_before_anything_counts_as_missing) {
  Lookups lookups(*client, {});
  ASSERT_TRUE(within(10s, [&] { return lookups.state.synced(); }));
  const auto quick = lookups->quick();
  EXPECT_EQ(quick->find(ReferenceKind::secret, ns, "hub").presence, Presence::absent);
  EXPECT_TRUE(quick->wants_asking());
  const auto asking = lookups->asking();
  EXPECT_EQ(asking->find(ReferenceKind::secret, ns, "hub").presence, Presence::absent);
  EXPECT_EQ(asking->find(ReferenceKind::storage_class, "", "none").presence, Presence::absent);
  EXPECT_EQ(asking->find(ReferenceKind::inference_cache, ns, "none").presence, Presence::absent);
  EXPECT_EQ(asking->find(ReferenceKind::secret, "no-such-namespace", "hub").presence, Presence::absent);
  EXPECT_EQ(lookups->counters().absent, 4U);
}

TEST_F(LiveLookup, finds_by_asking_what_it_does_not_watch) {
  Lookups lookups(*client, {"some-other-namespace"});
  ASSERT_TRUE(within(10s, [&] { return lookups.state.synced(); }));
  make(kube::types::secrets, "hub", R"("data":{"a":"dg=="})");
  const auto quick = lookups->quick();
  EXPECT_EQ(quick->find(ReferenceKind::secret, ns, "hub").presence, Presence::unknown);
  EXPECT_TRUE(quick->wants_asking());
  const auto asking = lookups->asking();
  EXPECT_THAT(asking->find(ReferenceKind::secret, ns, "hub").keys, ElementsAre("a"));
  make_service("llm");
  EXPECT_THAT(names(*asking), ElementsAre("llm"));
}

TEST_F(LiveLookup, answers_from_the_cache_alone_when_told_so) {
  make(kube::types::secrets, "hub", R"("data":{"a":"dg=="})");
  make_cache("c");
  kube::SharedWatches watches(client->transport(), {ns});
  State state(State::Contents::no);
  state.subscribe(watches);
  const ClusterLookup lookup(*client, state);
  const auto cached = lookup.cached_only();
  std::vector<validate::Neighbour> all;
  EXPECT_EQ(cached->find(ReferenceKind::secret, ns, "hub").presence, Presence::unknown) << "nothing was listed yet";
  EXPECT_FALSE(cached->neighbours(ns, all));
  watches.start();
  ASSERT_TRUE(within(10s, [&] { return state.synced(); }));
  EXPECT_THAT(cached->find(ReferenceKind::secret, ns, "hub").keys, ElementsAre("a"));
  EXPECT_EQ(cached->find(ReferenceKind::secret, ns, "none").presence, Presence::absent);
  EXPECT_EQ(cached->find(ReferenceKind::secret, "elsewhere", "hub").presence, Presence::unknown);
  EXPECT_THAT(names(*cached), ElementsAre("c"));
  EXPECT_EQ(lookup.counters().present + lookup.counters().absent + lookup.counters().failed, 0U);
}

TEST_F(LiveLookup, finds_a_secret_that_is_a_moment_old) {
  Lookups lookups(*client, {});
  ASSERT_TRUE(within(10s, [&] { return lookups.state.synced(); }));
  for (int i = 0; i < 20; ++i) {
    const std::string name = "new-" + std::to_string(i);
    make(kube::types::secrets, name, R"("data":{"a":"dg=="})");
    ASSERT_EQ(lookups->asking()->find(ReferenceKind::secret, ns, name).presence, Presence::present) << name;
  }
}

TEST_F(LiveLookup, finds_a_key_that_was_just_added) {
  make(kube::types::secrets, "hub", R"("data":{"a":"dg=="})");
  Lookups lookups(*client, {});
  ASSERT_TRUE(within(10s, [&] { return lookups.state.synced(); }));
  ASSERT_TRUE(client->patch(kube::types::secrets, ns, "hub", kube::PatchType::merge, R"({"data":{"b":"dg=="}})"));
  EXPECT_THAT(lookups->asking()->find(ReferenceKind::secret, ns, "hub").keys, ElementsAre("a", "b"));
  EXPECT_TRUE(within(5s, [&] { return lookups->quick()->find(ReferenceKind::secret, ns, "hub").keys.size() == 2; }));
}

TEST_F(LiveLookup, passes_over_helms_secrets_but_finds_them_by_asking) {
  make(kube::types::secrets, "release", R"("type":"helm.sh/release.v1","data":{"release":"dg=="})");
  Lookups lookups(*client, {});
  ASSERT_TRUE(within(10s, [&] { return lookups.state.synced(); }));
  EXPECT_EQ(lookups->quick()->find(ReferenceKind::secret, ns, "release").presence, Presence::absent);
  EXPECT_EQ(lookups->asking()->find(ReferenceKind::secret, ns, "release").presence, Presence::present);
}

TEST_F(LiveLookup, knows_the_neighbours) {
  make_service("llm");
  make_cache("c");
  Lookups lookups(*client, {ns});
  ASSERT_TRUE(within(10s, [&] { return lookups.state.synced(); }));
  const auto quick = lookups->quick();
  EXPECT_THAT(names(*quick), UnorderedElementsAre("llm", "c"));
  EXPECT_FALSE(quick->wants_asking());
  ASSERT_TRUE(client->remove(resource_type(crds::Kind::inference_service), ns, "llm"));
  EXPECT_THAT(names(*lookups->asking()), ElementsAre("c")) << "asking is never behind";
  EXPECT_TRUE(within(5s, [&] { return names(*lookups->quick()).size() == 1; }));
}

// The lists of a namespace with thousands of resources take the API server seconds.
TEST_F(LiveLookup, asks_for_neighbours_only_where_one_that_it_knows_could_matter) {
  make_service("llm");
  make_cache("c");
  Lookups lookups(*client, {ns});
  ASSERT_TRUE(within(10s, [&] { return lookups.state.synced() && names(*lookups->quick()).size() == 2; }));
  const auto found = [&](std::string_view name, std::optional<crds::Kind> itself) {
    std::vector<validate::Neighbour> out;
    EXPECT_TRUE(lookups->asking()->wanted_neighbours(ns, {.names = {name}, .itself = itself}, out));
    return out.size();  // an answer of the API server is about all
  };
  EXPECT_EQ(found("other", {}), 0U);
  EXPECT_EQ(found("llm", crds::Kind::inference_service), 0U);
  EXPECT_EQ(found("llm", crds::Kind::inference_cache), 2U);
}

TEST_F(LiveLookup, says_unknown_and_soon_when_the_server_cannot_be_asked) {
  kube::Config config = client->transport().config();
  config.server = "https://127.0.0.1:1";
  const auto nobody = connect(config);
  Lookups lookups(*nobody, {});
  EXPECT_FALSE(lookups.state.synced());
  const auto begun = Clock::now();
  const auto asking = lookups->asking();
  for (int i = 0; i < 50; ++i)
    EXPECT_EQ(asking->find(ReferenceKind::secret, ns, std::to_string(i)).presence, Presence::unknown);
  std::vector<validate::Neighbour> none;
  EXPECT_FALSE(asking->neighbours(ns, none));
  EXPECT_LT(Clock::now() - begun, 2500ms);
  EXPECT_EQ(lookups->counters().failed, 50U);
}

TEST_F(LiveLookup, says_unknown_when_it_may_not_ask) {
  kube::Config config = client->transport().config();
  config.client_certificate = config.client_key = {};  // nobody in particular
  const auto anonymous = connect(config);
  Lookups lookups(*anonymous, {});
  ASSERT_TRUE(within(10s, [&] { return lookups.state.synced(); })) << "what is refused must not hold readiness up";
  EXPECT_TRUE(lookups.watches.report().at(0).health.denied);
  EXPECT_EQ(lookups->cached_only()->find(ReferenceKind::secret, ns, "hub").presence, Presence::unknown);
  EXPECT_EQ(lookups->quick()->find(ReferenceKind::secret, ns, "hub").presence, Presence::unknown);
  EXPECT_EQ(lookups->asking()->find(ReferenceKind::secret, ns, "hub").presence, Presence::unknown);
}

TEST_F(LiveLookup, holds_on_to_what_it_knew_when_the_server_goes_away) {
  make(kube::types::secrets, "hub", R"("data":{"a":"dg=="})");
  kube::SharedWatches watches(client->transport(), {ns});
  State cache(State::Contents::no);
  cache.subscribe(watches);
  watches.start();
  ASSERT_TRUE(within(10s, [&] { return cache.synced(); }));
  EXPECT_EQ(cache.find(ReferenceKind::secret, ns, "hub").presence, Presence::present);
  EXPECT_EQ(cache.find(ReferenceKind::secret, "elsewhere", "hub").presence, Presence::unknown) << "not watched";
}

TEST_F(LiveLookup, serves_many_reviews_at_once) {
  make(kube::types::secrets, "hub", R"("data":{"a":"dg=="})");
  Lookups lookups(*client, {});
  ASSERT_TRUE(within(10s, [&] { return lookups.state.synced(); }));
  std::vector<std::thread> threads;
  std::atomic<int> wrong{0};
  for (int t = 0; t < 4; ++t)
    threads.emplace_back([&, t] {
      for (int i = 0; i < 50; ++i) {
        const auto quick = lookups->quick();
        const auto asking = lookups->asking();
        wrong += quick->find(ReferenceKind::secret, ns, "hub").presence != Presence::present;
        wrong += asking->find(ReferenceKind::secret, ns, "hub").presence != Presence::present;
        wrong += asking->find(ReferenceKind::secret, ns, "none").presence != Presence::absent;
        if (t == 0) make(kube::types::config_maps, "m" + std::to_string(i), R"("data":{})");
      }
    });
  for (auto& each : threads) each.join();
  EXPECT_EQ(wrong, 0);
}

TEST_F(LiveLookup, without_watches_asks_once_and_remembers) {
  make(kube::types::secrets, "hub", R"("data":{"a":"dg=="})");
  std::string error;
  const auto lookup = make_asking_lookup(*client, &error);
  EXPECT_THAT(lookup->find(ReferenceKind::secret, ns, "hub").keys, ElementsAre("a"));
  ASSERT_TRUE(client->remove(kube::types::secrets, ns, "hub"));
  EXPECT_EQ(lookup->find(ReferenceKind::secret, ns, "hub").presence, Presence::present) << "one run, one answer";
  EXPECT_EQ(lookup->find(ReferenceKind::secret, ns, "none").presence, Presence::absent);
  EXPECT_EQ(error, "");

  kube::Config config = client->transport().config();
  config.server = "https://127.0.0.1:1";
  const auto nobody = connect(config);
  EXPECT_EQ(make_asking_lookup(*nobody, &error)->find(ReferenceKind::secret, ns, "hub").presence, Presence::unknown);
  EXPECT_THAT(error, testing::HasSubstr("unreachable"));
}

}  // namespace
}  // namespace stackgate::cluster
