// The Kubernetes client against a real API server; see live.hpp.
#include <atomic>
#include <cstdlib>
#include <thread>

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include "services/kit/json/read.hpp"
#include "services/kit/kube/cache.hpp"
#include "services/kit/kube/client.hpp"
#include "tests/e2e/live/live.hpp"

namespace stackgate::kube {
namespace {

using live::environment;
using live::within;
using namespace std::chrono_literals;
using testing::HasSubstr;
using Clock = std::chrono::steady_clock;

class LiveKube : public testing::Test {
 protected:
  void SetUp() override {
    const std::string file = environment("STACKGATE_TEST_KUBECONFIG");
    if (file.empty()) GTEST_SKIP() << live::no_server;
    auto config = load_kubeconfig(file);
    ASSERT_TRUE(config) << config.error().message;
    auto connected = Client::connect(*config);
    ASSERT_TRUE(connected) << connected.error().message;
    client = std::move(*connected);
    static std::atomic<int> count{0};
    ns = "kube-" + std::to_string(getpid()) + "-" + std::to_string(++count);
    const auto made = client->create(types::namespaces, "", R"({"metadata":{"name":")" + ns + R"("}})");
    ASSERT_TRUE(made) << made.error().message;
  }
  void TearDown() override {
    if (client == nullptr) return;
    // Without a controller manager the namespace itself stays; its objects do not.
    (void)client->request("DELETE", collection_path(types::secrets, ns));
    (void)client->request("DELETE", collection_path(types::config_maps, ns));
    (void)client->remove(types::namespaces, "", ns);
  }
  static std::string secret(std::string_view name, std::string_view key = "k") {
    return R"({"apiVersion":"v1","kind":"Secret","metadata":{"name":")" + std::string(name) + R"("},"data":{")" +
           std::string(key) + R"(":"dg=="}})";
  }

  std::unique_ptr<Client> client;
  std::string ns;
};

TEST_F(LiveKube, creates_reads_replaces_and_deletes) {
  const auto made = client->create(types::secrets, ns, secret("a"));
  ASSERT_TRUE(made) << made.error().message;
  const auto read = client->get(types::secrets, ns, "a");
  ASSERT_TRUE(read) << read.error().message;
  EXPECT_EQ(read->name(), "a");
  EXPECT_EQ(read->resource_version(), made->resource_version());
  const std::string newer = R"({"metadata":{"name":"a","resourceVersion":")" + std::string(made->resource_version()) +
                            R"("},"data":{"other":"dg=="}})";
  ASSERT_TRUE(client->replace(types::secrets, ns, "a", newer));
  const auto again = client->replace(types::secrets, ns, "a", newer);
  ASSERT_FALSE(again) << "its version has moved on";
  EXPECT_EQ(again.error().reason, "Conflict");
  ASSERT_TRUE(client->remove(types::secrets, ns, "a"));
  const auto gone = client->get(types::secrets, ns, "a");
  ASSERT_FALSE(gone);
  EXPECT_TRUE(gone.error().object_missing("a")) << gone.error().message;
}

TEST_F(LiveKube, says_what_the_server_said) {
  ASSERT_TRUE(client->create(types::secrets, ns, secret("a")));
  const auto twice = client->create(types::secrets, ns, secret("a"));
  ASSERT_FALSE(twice);
  EXPECT_EQ(twice.error().code, 409);
  EXPECT_EQ(twice.error().reason, "AlreadyExists");
  EXPECT_THAT(twice.error().message, HasSubstr("secrets \"a\" already exists"));
  const auto unknown = client->get({"no.such", "v1", "things"}, ns, "a");
  ASSERT_FALSE(unknown);
  EXPECT_TRUE(unknown.error().not_found());
  EXPECT_FALSE(unknown.error().object_missing("a"));
}

TEST_F(LiveKube, honours_dry_run) {
  ASSERT_TRUE(client->create(types::secrets, ns, secret("a"), true));
  EXPECT_FALSE(client->get(types::secrets, ns, "a"));
}

TEST_F(LiveKube, applies_server_side_and_keeps_others_fields) {
  const auto map = [](std::string_view key) {
    return R"({"apiVersion":"v1","kind":"ConfigMap","metadata":{"name":"m"},"data":{")" + std::string(key) +
           R"(":"1"}})";
  };
  ASSERT_TRUE(client->apply(types::config_maps, ns, "m", map("mine"), {.field_manager = "one"}));
  const auto both = client->apply(types::config_maps, ns, "m", map("yours"), {.field_manager = "two"});
  ASSERT_TRUE(both) << both.error().message;
  EXPECT_NE(json::at(&both->root(), {"data", "mine"}), nullptr);
  EXPECT_NE(json::at(&both->root(), {"data", "yours"}), nullptr);
}

TEST_F(LiveKube, patches_in_each_way) {
  ASSERT_TRUE(client->create(types::config_maps, ns, R"({"metadata":{"name":"m"},"data":{"a":"1"}})"));
  const auto merged = client->patch(types::config_maps, ns, "m", PatchType::merge, R"({"data":{"b":"2"}})");
  ASSERT_TRUE(merged) << merged.error().message;
  const auto tested = client->patch(types::config_maps, ns, "m", PatchType::json,
                                    R"([{"op":"test","path":"/data/a","value":"9"},{"op":"remove","path":"/data/a"}])");
  ASSERT_FALSE(tested);
  EXPECT_EQ(tested.error().code, 422);
  const auto removed =
      client->patch(types::config_maps, ns, "m", PatchType::json,
                    R"([{"op":"test","path":"/data/a","value":"1"},{"op":"remove","path":"/data/a"}])");
  ASSERT_TRUE(removed) << removed.error().message;
  EXPECT_EQ(json::at(&removed->root(), {"data", "a"}), nullptr);
}

TEST_F(LiveKube, deletes_only_what_was_meant) {
  const auto made = client->create(types::secrets, ns, secret("a"));
  const auto other = client->remove(types::secrets, ns, "a", {.uid = "11111111-2222-3333-4444-555555555555"});
  ASSERT_FALSE(other);
  EXPECT_TRUE(other.error().conflict()) << other.error().message;
  const std::string uid(metadata(made->root(), "uid"));
  EXPECT_TRUE(client->remove(types::secrets, ns, "a", {.uid = uid}));
}

TEST_F(LiveKube, lists_all_pages) {
  for (int i = 0; i < 25; ++i) ASSERT_TRUE(client->create(types::secrets, ns, secret("s" + std::to_string(i))));
  std::set<std::string> names;
  const auto listed = client->list(types::secrets, ns, {.page_size = 10},
                                   [&](const json::Value& object) { names.emplace(metadata(object, "name")); });
  ASSERT_TRUE(listed) << listed.error().message;
  EXPECT_EQ(names.size(), 25U);
}

TEST_F(LiveKube, uses_one_connection_for_many_calls_at_once) {
  ASSERT_TRUE(client->create(types::secrets, ns, secret("a")));
  std::vector<std::thread> threads;
  std::atomic<int> good{0};
  for (int t = 0; t < 8; ++t)
    threads.emplace_back([&] {
      for (int i = 0; i < 25; ++i) good += client->get(types::secrets, ns, "a").has_value() ? 1 : 0;
    });
  for (auto& thread : threads) thread.join();
  EXPECT_EQ(good, 200);
  EXPECT_LE(client->transport().stats().connections_total, 2U);
  EXPECT_GE(client->transport().stats().http2_answers_total, 200U);
}

TEST_F(LiveKube, gives_up_in_time_when_nobody_answers) {
  Config config = client->transport().config();
  config.server = "https://127.0.0.1:1";
  auto nobody = Client::connect(config);
  ASSERT_TRUE(nobody);
  const auto begun = Clock::now();
  const auto answer = (*nobody)->get(types::secrets, ns, "a", CallOptions::once(500ms));
  ASSERT_FALSE(answer);
  EXPECT_EQ(answer.error().failure, Failure::unreachable) << answer.error().message;
  EXPECT_LT(Clock::now() - begun, 2s);
}

TEST_F(LiveKube, refuses_a_server_whose_certificate_it_cannot_check) {
  Config config = client->transport().config();
  config.ca = {};
  auto stranger = Client::connect(config);
  const auto answer = (*stranger)->get(types::secrets, ns, "a", CallOptions::once(2s));
  ASSERT_FALSE(answer);
  EXPECT_EQ(answer.error().failure, Failure::unreachable) << answer.error().message;
  config.insecure_skip_tls_verify = true;
  auto careless = Client::connect(config);
  const auto reached = (*careless)->get(types::secrets, ns, "a", CallOptions::once(2s));
  EXPECT_EQ(reached.error().code, 404) << reached.error().message;
}

TEST_F(LiveKube, verifies_the_name_it_is_told) {
  Config config = client->transport().config();
  config.tls_server_name = "kubernetes.default.svc";
  auto named = Client::connect(config);
  const auto answer = (*named)->get(types::secrets, ns, "a", CallOptions::once(2s));
  EXPECT_EQ(answer.error().code, 404) << answer.error().message;
  config.tls_server_name = "somebody.else";
  auto wrong = Client::connect(config);
  EXPECT_EQ((*wrong)->get(types::secrets, ns, "a", CallOptions::once(2s)).error().failure, Failure::unreachable);
}

/// A cache of Secrets' first keys, watched.
struct Watched {
  Watched(Client& client, const std::string& ns, const WatchTuning& tuning = {})
      : cache(std::make_shared<Cache<std::string>>([](const json::Value& object) {
          const json::Value* data = object.find("data");
          return data == nullptr || data->members().empty() ? std::string() : std::string(data->members()[0].key);
        })),
        watch(client.transport(), {types::secrets, ns, "", "type!=kubernetes.io/service-account-token"}, cache,
              tuning) {}

  std::shared_ptr<Cache<std::string>> cache;
  Watch watch;
};

TEST_F(LiveKube, sees_a_new_secret_within_milliseconds) {
  ASSERT_TRUE(client->create(types::secrets, ns, secret("before")));
  Watched watched(*client, ns);
  ASSERT_TRUE(within(5s, [&] { return watched.watch.health().connected; })) << watched.watch.health().last_error;
  EXPECT_TRUE(watched.cache->find(ns, "before"));
  ASSERT_TRUE(client->create(types::secrets, ns, secret("new", "key")));
  const auto created = Clock::now();
  ASSERT_TRUE(within(5s, [&] { return watched.cache->find(ns, "new") == "key"; }));
  const auto took = std::chrono::duration_cast<std::chrono::microseconds>(Clock::now() - created);
  RecordProperty("microseconds_after_the_answer", static_cast<int>(took.count()));
  EXPECT_LT(took, 500ms);
  ASSERT_TRUE(client->remove(types::secrets, ns, "new"));
  EXPECT_TRUE(within(5s, [&] { return !watched.cache->find(ns, "new"); }));
}

TEST_F(LiveKube, pages_through_a_list_before_it_watches) {
  for (int i = 0; i < 12; ++i) ASSERT_TRUE(client->create(types::secrets, ns, secret("s" + std::to_string(i))));
  WatchTuning tuning;
  tuning.page_size = 5;
  Watched watched(*client, ns, tuning);
  ASSERT_TRUE(within(5s, [&] { return watched.watch.health().synced; }));
  EXPECT_EQ(watched.cache->size(), 12U);
}

TEST_F(LiveKube, resumes_when_the_server_ends_the_watch) {
  WatchTuning tuning;
  tuning.shortest_watch = tuning.longest_watch = 1s;
  Watched watched(*client, ns, tuning);
  ASSERT_TRUE(within(10s, [&] { return watched.watch.health().counts.watches >= 3; }));
  ASSERT_TRUE(client->create(types::secrets, ns, secret("new")));
  EXPECT_TRUE(within(5s, [&] { return watched.cache->find(ns, "new").has_value(); }));
  EXPECT_EQ(watched.watch.health().counts.lists, 1U);
}

TEST_F(LiveKube, takes_a_silent_watch_for_dead_and_resumes) {
  WatchTuning tuning;
  tuning.stall = 300ms;
  Watched watched(*client, ns, tuning);
  ASSERT_TRUE(within(10s, [&] { return watched.watch.health().counts.stalls >= 2; }));
  ASSERT_TRUE(client->create(types::secrets, ns, secret("new")));
  EXPECT_TRUE(within(5s, [&] { return watched.cache->find(ns, "new").has_value(); }));
}

TEST_F(LiveKube, reports_a_type_that_does_not_exist_and_syncs_once_it_does) {
  auto cache = std::make_shared<Cache<int>>([](const json::Value&) { return 1; });
  WatchTuning tuning;
  tuning.denied_wait = 200ms;
  tuning.backoff.most = 200ms;
  const ResourceType type{"kube.test", "v1", "widgets"};
  const Watch watch(client->transport(), {type, "", "", ""}, cache, tuning);
  ASSERT_TRUE(within(5s, [&] { return watch.health().missing; }));
  EXPECT_FALSE(watch.health().synced);
  const auto* crd = R"({"apiVersion":"apiextensions.k8s.io/v1","kind":"CustomResourceDefinition",
    "metadata":{"name":"widgets.kube.test"},"spec":{"group":"kube.test","scope":"Namespaced",
    "names":{"plural":"widgets","kind":"Widget"},"versions":[{"name":"v1","served":true,"storage":true,
    "schema":{"openAPIV3Schema":{"type":"object","x-kubernetes-preserve-unknown-fields":true}}}]}})";
  ASSERT_TRUE(client->create(types::custom_resource_definitions, "", crd));
  EXPECT_TRUE(within(15s, [&] { return watch.health().synced; })) << watch.health().last_error;
  EXPECT_FALSE(watch.health().missing);
  ASSERT_TRUE(client->remove(types::custom_resource_definitions, "", "widgets.kube.test"));
}

TEST_F(LiveKube, survives_a_restart_of_the_api_server) {
  const std::string restart = environment("STACKGATE_TEST_RESTART_APISERVER");
  if (restart.empty()) GTEST_SKIP() << "STACKGATE_TEST_RESTART_APISERVER is not set";
  ASSERT_TRUE(client->create(types::secrets, ns, secret("kept")));
  ASSERT_TRUE(client->create(types::secrets, ns, secret("doomed")));
  Watched watched(*client, ns);
  ASSERT_TRUE(within(5s, [&] { return watched.watch.health().connected; }));
  ASSERT_EQ(std::system(restart.c_str()), 0);
  // Changed before the watch is back, maybe: a resumed watch or a new list must both find it.
  ASSERT_TRUE(client->remove(types::secrets, ns, "doomed"));
  ASSERT_TRUE(client->create(types::secrets, ns, secret("new")));
  EXPECT_TRUE(within(20s, [&] { return watched.cache->find(ns, "new").has_value(); }))
      << watched.watch.health().last_error;
  EXPECT_TRUE(within(5s, [&] { return !watched.cache->find(ns, "doomed"); }));
  EXPECT_TRUE(watched.cache->find(ns, "kept"));
  EXPECT_TRUE(watched.watch.health().synced);
}

/// Hands over everything a stream says.
struct Recorder : Receiver {
  bool data(const HttpHead& head, std::string_view bytes) override {
    const std::scoped_lock lock(mutex);
    status = head.status;
    text += bytes;
    return true;
  }
  void done(const HttpHead& head, const TransportError* /*error*/) override {
    const std::scoped_lock lock(mutex);
    status = head.status;
    finished = true;
  }
  bool ended() {
    const std::scoped_lock lock(mutex);
    return finished;
  }
  std::mutex mutex;
  int status = 0;
  std::string text;
  bool finished = false;
};

TEST_F(LiveKube, is_told_410_for_a_version_that_was_compacted_and_lists_again) {
  const std::string compact = environment("STACKGATE_TEST_COMPACT");
  if (compact.empty()) GTEST_SKIP() << "STACKGATE_TEST_COMPACT is not set";
  ASSERT_TRUE(client->create(types::secrets, ns, secret("kept")));
  ASSERT_EQ(std::system(compact.c_str()), 0);
  auto recorder = std::make_shared<Recorder>();
  Request request;
  request.path = collection_path(types::secrets, ns) + "?watch=1&resourceVersion=1&timeoutSeconds=5";
  client->transport().send(request, recorder);
  ASSERT_TRUE(within(10s, [&] { return recorder->ended(); }));
  EXPECT_TRUE(recorder->status == 410 || recorder->text.find("\"code\":410") != std::string::npos) << recorder->text;

  // The machine, told the same by the same server.
  WatchMachine machine({}, Jitter(1));
  (void)machine.start();
  (void)machine.page_received({"1", ""});
  ApiError error{Failure::answered, recorder->status, "", recorder->text, {}};
  if (recorder->status == 200) {
    FrameSplitter splitter;
    splitter.feed(recorder->text, [&](std::string_view frame) {
      bool valid = false;
      const Object object = Object::parse(std::string(frame), valid);
      return machine.event(object.root()) != EventVerdict::end;
    });
  }
  const WatchAction next = machine.stream_ended(recorder->status == 200 ? nullptr : &error, 1s);
  EXPECT_TRUE(std::holds_alternative<ListNow>(next));
}

TEST_F(LiveKube, ends_watches_and_calls_without_delay) {
  auto watched = std::make_unique<Watched>(*client, ns);
  ASSERT_TRUE(within(5s, [&] { return watched->watch.health().connected; }));
  const auto begun = Clock::now();
  watched.reset();
  client.reset();
  EXPECT_LT(Clock::now() - begun, 1s);
}

}  // namespace
}  // namespace stackgate::kube
