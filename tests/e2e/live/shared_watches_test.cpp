// Shared watches and optional types against a real API server; see live.hpp.
#include "services/kit/kube/shared_watches.hpp"

#include <cstdlib>
#include <mutex>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "services/kit/kube/cache.hpp"
#include "services/kit/kube/discovery.hpp"
#include "tests/e2e/live/watching.hpp"

namespace stackgate::kube {
namespace {

using live::environment;
using live::within;
using namespace std::chrono_literals;
using testing::ElementsAre;
using testing::UnorderedElementsAre;
using Clock = std::chrono::steady_clock;

/// What on_served_changed() was told.
class Served {
 public:
  void listen(SharedWatches& watches) {
    watches.on_served_changed([this](std::string_view name, bool served) {
      const std::scoped_lock lock(mutex_);
      words_.push_back(std::string(name) + (served ? " served" : " gone"));
    });
  }
  std::vector<std::string> words() const {
    const std::scoped_lock lock(mutex_);
    return words_;
  }

 private:
  mutable std::mutex mutex_;
  std::vector<std::string> words_;
};

using LiveSharedWatches = WatchingTest;

TEST_F(LiveSharedWatches, tell_every_sink_of_a_target_through_one_watch) {
  make_map(ns, "before");
  SharedWatches watches(client->transport(), {});
  const auto a = std::make_shared<Names>(), b = std::make_shared<Names>();
  const auto one = watches.subscribe({types::config_maps, ns, "", ""}, a);
  watches.subscribe({types::config_maps, ns, "", ""}, b);
  EXPECT_FALSE(watches.synced());
  EXPECT_EQ(one.coverage(ns), Coverage::unlisted);
  watches.start();
  ASSERT_TRUE(within(5s, [&] { return watches.synced(); }));
  EXPECT_EQ(one.coverage(ns), Coverage::listed);
  EXPECT_EQ(one.coverage("elsewhere"), Coverage::outside);
  EXPECT_THAT(a->get(), ElementsAre("before"));
  EXPECT_THAT(b->get(), ElementsAre("before"));
  ASSERT_EQ(watches.report().size(), 1U);
  EXPECT_EQ(watches.report()[0].type, "configmaps");
  make_map(ns, "new");
  EXPECT_TRUE(within(5s, [&] { return a->get().contains("new") && b->get().contains("new"); }));
}

TEST_F(LiveSharedWatches, fetch_only_metadata_when_nobody_wants_more) {
  make_map(ns, "before");
  const WatchTarget bare{types::config_maps, ns, "", "", true};
  const auto lean = std::make_shared<Names>(), full = std::make_shared<Names>(), third = std::make_shared<Names>();
  SharedWatches metadata_only(client->transport(), {}), both(client->transport(), {});
  metadata_only.subscribe(bare, lean);
  both.subscribe(bare, third);
  both.subscribe({types::config_maps, ns, "", ""}, full);
  metadata_only.start();
  both.start();
  ASSERT_TRUE(within(5s, [&] { return metadata_only.synced() && both.synced(); }));
  make_map(ns, "new");
  ASSERT_TRUE(within(5s, [&] { return lean->get().size() == 2 && full->get().size() == 2; }));
  EXPECT_FALSE(lean->with_data()) << "neither in the list nor in events";
  EXPECT_TRUE(full->with_data());
  EXPECT_EQ(both.report().size(), 1U);
}

TEST_F(LiveSharedWatches, let_go_of_an_object_that_leaves_the_selector) {
  make_map(ns, "mine", R"({"app":"a"})");
  make_map(ns, "other", R"({"app":"b"})");
  for (const bool metadata_only : {false, true}) {
    SharedWatches watches(client->transport(), {});
    const auto sink = std::make_shared<Names>();
    watches.subscribe({types::config_maps, ns, "app=a", "", metadata_only}, sink);
    watches.start();
    ASSERT_TRUE(within(5s, [&] { return watches.report()[0].health.connected; }));
    EXPECT_THAT(sink->get(), ElementsAre("mine"));
    const auto label = [&](const char* app) {
      return client
          ->patch(types::config_maps, ns, "mine", PatchType::merge,
                  std::string(R"({"metadata":{"labels":{"app":")") + app + R"("}}})")
          .has_value();
    };
    ASSERT_TRUE(label("b"));
    EXPECT_TRUE(within(5s, [&] { return sink->get().empty(); }));
    ASSERT_TRUE(label("a"));
    EXPECT_TRUE(within(5s, [&] { return sink->get().contains("mine"); }));
  }
}

TEST_F(LiveSharedWatches, join_several_namespaces_into_one_stream) {
  const std::string second = ns + "-b", outside = ns + "-c";
  make_namespace(second);
  make_namespace(outside);
  make_map(ns, "a");
  make_map(second, "b");
  make_map(outside, "c");
  WatchTuning tuning;
  tuning.stall = 1s;
  SharedWatches watches(client->transport(), {ns, second}, tuning);
  const auto sink = std::make_shared<Names>();
  auto cache = std::make_shared<Cache<int>>([](const json::Value&) { return 1; });
  const auto maps = watches.subscribe({types::config_maps}, sink);
  watches.subscribe({types::config_maps}, cache);
  const auto classes = watches.subscribe({types::priority_classes}, std::make_shared<Names>());
  watches.start();
  ASSERT_TRUE(within(5s, [&] { return watches.synced(); }));
  EXPECT_EQ(watches.report().size(), 3U) << "a cluster-wide type is one watch";
  EXPECT_EQ(classes.coverage("anything"), Coverage::listed);
  EXPECT_EQ(maps.coverage(second), Coverage::listed);
  EXPECT_EQ(maps.coverage(outside), Coverage::outside);
  EXPECT_THAT(sink->get(), ElementsAre("a", "b"));
  EXPECT_TRUE(cache->find(ns, "a"));
  EXPECT_TRUE(cache->find(second, "b"));
  ASSERT_TRUE(client->remove(types::config_maps, ns, "a"));
  EXPECT_TRUE(within(5s, [&] { return sink->get() == std::set<std::string>{"b"}; }));
}

TEST_F(LiveSharedWatches, ask_once_for_an_absent_type_and_watch_it_when_its_definition_appears) {
  const ResourceType type = widgets();
  Served served;
  SharedWatches watches(client->transport(), {});
  served.listen(watches);
  const auto a = std::make_shared<Names>(), b = std::make_shared<Names>();
  const auto seen = watches.subscribe_optional({type, ns, "", ""}, crd_name(), a);
  watches.subscribe_optional({type, ns, "", ""}, crd_name(), b);
  watches.start();
  ASSERT_TRUE(within(5s, [&] { return watches.synced(); }));
  EXPECT_EQ(seen.coverage(ns), Coverage::absent);
  EXPECT_EQ(a->lists(), 1) << "an empty one";
  const std::string name = to_string(type);
  std::this_thread::sleep_for(1500ms);
  EXPECT_EQ(requests(watches, name), 1U);
  EXPECT_THAT(served.words(), ElementsAre());

  const auto begun = Clock::now();
  make_crd();
  ASSERT_TRUE(within(10s, [&] { return seen.coverage(ns) == Coverage::listed; }));
  RecordProperty("milliseconds_until_listed",
                 static_cast<int>(std::chrono::duration_cast<std::chrono::milliseconds>(Clock::now() - begun).count()));
  EXPECT_TRUE(within(5s, [&] { return !served.words().empty(); }));  // reported after the coverage has changed
  EXPECT_THAT(served.words(), ElementsAre(crd_name() + " served"));
  ASSERT_TRUE(within(5s, [&] { return make_widget("w"); }));
  ASSERT_TRUE(within(5s, [&] { return a->get().contains("w") && b->get().contains("w"); }));

  drop_crd();
  ASSERT_TRUE(within(15s, [&] { return seen.coverage(ns) == Coverage::absent; }));
  EXPECT_THAT(a->get(), ElementsAre());
  EXPECT_THAT(b->get(), ElementsAre());
  EXPECT_TRUE(within(5s, [&] { return served.words().size() > 1; }));
  EXPECT_THAT(served.words(), ElementsAre(crd_name() + " served", crd_name() + " gone"));
  std::this_thread::sleep_for(500ms);
  const std::uint64_t asked = requests(watches, name);
  std::this_thread::sleep_for(2s);
  EXPECT_EQ(requests(watches, name), asked) << "an absent type costs nothing";
  EXPECT_LT(asked, 16U);

  make_crd();
  ASSERT_TRUE(within(10s, [&] { return seen.coverage(ns) == Coverage::listed; }));
  ASSERT_TRUE(within(5s, [&] { return make_widget("again"); }));
  EXPECT_TRUE(within(5s, [&] { return a->get() == std::set<std::string>{"again"}; }));
  EXPECT_TRUE(within(5s, [&] { return served.words().size() > 2; }));
  EXPECT_EQ(served.words().size(), 3U);
}

TEST_F(LiveSharedWatches, wait_for_the_version_that_is_wanted) {
  const ResourceType type = widgets();
  SharedWatches watches(client->transport(), {});
  const auto sink = std::make_shared<Names>();
  const auto seen = watches.subscribe_optional({type, ns, "", ""}, crd_name(), sink);
  make_crd("v1alpha1");
  watches.start();
  ASSERT_TRUE(within(5s, [&] { return watches.synced(); }));
  std::this_thread::sleep_for(8s);  // it would ask again 2 to 4 s later
  EXPECT_EQ(seen.coverage(ns), Coverage::absent);
  EXPECT_LT(requests(watches, to_string(type)), 20U);
  ASSERT_TRUE(client->patch(types::custom_resource_definitions, "", crd_name(), PatchType::merge,
                            R"({"spec":{"versions":[)" + served("v1alpha1") + "," + served("v1", false) + "]}}"));
  EXPECT_TRUE(within(1500ms, [&] { return seen.coverage(ns) == Coverage::listed; })) << "the change itself is the sign";
}

TEST_F(LiveSharedWatches, notice_a_definition_that_was_replaced_while_the_server_was_gone) {
  const std::string restart = environment("STACKGATE_TEST_RESTART_APISERVER");
  if (restart.empty()) GTEST_SKIP() << "STACKGATE_TEST_RESTART_APISERVER is not set";
  make_crd();
  ASSERT_TRUE(within(10s, [&] { return make_widget("old"); }));
  const ResourceType type = widgets();
  SharedWatches watches(client->transport(), {});
  const auto sink = std::make_shared<Names>(), maps = std::make_shared<Names>();
  const auto seen = watches.subscribe_optional({type, ns, "", ""}, crd_name(), sink);
  watches.subscribe({types::config_maps, ns, "", ""}, maps);
  watches.start();
  ASSERT_TRUE(within(5s, [&] { return sink->get().contains("old"); }));
  ASSERT_EQ(std::system(restart.c_str()), 0);
  drop_crd();
  ASSERT_TRUE(within(20s, [&] {
    const auto left = client->get(types::custom_resource_definitions, "", crd_name());
    return !left && left.error().not_found();
  }));
  make_crd();
  ASSERT_TRUE(within(20s, [&] { return make_widget("new"); }));
  make_map(ns, "after");
  EXPECT_TRUE(within(20s, [&] { return sink->get() == std::set<std::string>{"new"}; }));
  EXPECT_TRUE(within(20s, [&] { return maps->get().contains("after"); }));
}

TEST_F(LiveSharedWatches, say_so_where_nothing_may_be_listed) {
  Config config = client->transport().config();
  config.client_certificate = config.client_key = {};  // nobody in particular
  const auto anonymous = connect(config);
  const ResourceType type = widgets();
  SharedWatches watches(anonymous->transport(), {});
  const auto seen = watches.subscribe_optional({type, ns, "", ""}, crd_name(), std::make_shared<Names>());
  watches.start();
  ASSERT_TRUE(within(10s, [&] { return watches.synced(); }));
  EXPECT_EQ(seen.coverage(ns), Coverage::refused);
  EXPECT_EQ(watches.report()[0].coverage, Coverage::refused);
}

TEST_F(LiveSharedWatches, ask_again_and_again_where_definitions_may_not_be_listed) {
  const auto user = as_service_account("watcher");
  allow("watcher", "widgets", group, "widgets");
  const ResourceType type = widgets();
  WatchTuning tuning;
  tuning.unlisted_wait = 400ms;
  tuning.denied_wait = 1s;
  tuning.denied_grace = {100ms, 100ms};
  Served served;
  SharedWatches watches(user->transport(), {}, tuning);
  served.listen(watches);
  const auto sink = std::make_shared<Names>();
  const auto seen = watches.subscribe_optional({type, ns, "", ""}, crd_name(), sink);
  watches.start();
  ASSERT_TRUE(within(10s, [&] { return seen.coverage(ns) == Coverage::absent; }));
  const std::uint64_t asked = requests(watches, to_string(type));
  EXPECT_TRUE(within(5s, [&] { return requests(watches, to_string(type)) >= asked + 3; }));

  make_crd();
  ASSERT_TRUE(within(15s, [&] { return seen.coverage(ns) == Coverage::listed; }));
  ASSERT_TRUE(within(5s, [&] { return make_widget("w"); }));
  ASSERT_TRUE(within(5s, [&] { return sink->get().contains("w"); }));
  drop_crd();
  ASSERT_TRUE(within(15s, [&] { return seen.coverage(ns) == Coverage::absent; }));
  EXPECT_THAT(sink->get(), ElementsAre());
  EXPECT_THAT(served.words(), ElementsAre(crd_name() + " served", crd_name() + " gone"));

  // Given the right, it stops asking.
  allow("watcher", "definitions", "apiextensions.k8s.io", "customresourcedefinitions");
  ASSERT_TRUE(within(15s, [&] { return watches.report()[0].coverage == Coverage::listed; }));
  std::this_thread::sleep_for(1s);
  const std::uint64_t last = requests(watches, to_string(type));
  std::this_thread::sleep_for(2s);
  EXPECT_EQ(requests(watches, to_string(type)), last);
  make_crd();
  EXPECT_TRUE(within(15s, [&] { return seen.coverage(ns) == Coverage::listed; }));
}

TEST_F(LiveSharedWatches, are_told_by_discovery_which_version_to_ask_for) {
  const auto autoscaling = served_versions(*client, "autoscaling");
  ASSERT_TRUE(autoscaling) << autoscaling.error().message;
  EXPECT_THAT(*autoscaling, testing::Contains("v1"));
  EXPECT_THAT(*served_versions(*client, ""), ElementsAre("v1"));
  EXPECT_THAT(*served_versions(*client, "no.such.group"), ElementsAre());
  EXPECT_EQ(*newest_served(*client, "autoscaling", {"v99", "v1"}), "v1");
  EXPECT_EQ(*newest_served(*client, "autoscaling", {"v99"}), std::nullopt);
  EXPECT_EQ(*newest_served(*client, "no.such.group", {"v1"}), std::nullopt);
  EXPECT_TRUE(*serves(*client, types::config_maps));
  EXPECT_TRUE(*serves(*client, types::storage_classes));
  EXPECT_FALSE(*serves(*client, {"storage.k8s.io", "v1", "nonesuch"}));
  EXPECT_FALSE(*serves(*client, {"", "v9", "pods"}));
  make_crd("v1alpha1");
  ASSERT_TRUE(client->patch(types::custom_resource_definitions, "", crd_name(), PatchType::merge,
                            R"({"spec":{"versions":[)" + served("v1alpha1", false) + "," + served("v1") + "]}}"));
  ASSERT_TRUE(within(10s, [&] { return served_versions(*client, group)->size() == 2; }));
  EXPECT_THAT(*served_versions(*client, group), ElementsAre("v1", "v1alpha1")) << "the preferred one first";

  Config config = client->transport().config();
  config.server = "https://127.0.0.1:1";
  const auto nobody = connect(config);
  const auto unknown = served_versions(*nobody, "autoscaling", CallOptions::once(1s));
  ASSERT_FALSE(unknown);
  EXPECT_EQ(unknown.error().failure, Failure::unreachable);
}

TEST_F(LiveSharedWatches, end_at_once_while_everything_is_under_way) {
  for (int i = 0; i < 20; ++i) {
    SharedWatches watches(client->transport(), {});
    const ResourceType type = widgets();
    watches.subscribe({types::secrets}, std::make_shared<Names>());
    watches.subscribe_optional({type}, crd_name(), std::make_shared<Names>());
    if (i % 4 != 0) watches.start();
    std::this_thread::sleep_for(std::chrono::milliseconds(i));
  }
}

}  // namespace
}  // namespace stackgate::kube
